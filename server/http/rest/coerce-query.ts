import type { z } from "zod";

interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  options?: z.ZodType[];
  values?: unknown[];
  getter?: () => z.ZodType;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * A query value as the type that its schema wants, found by reading the schema and leaving it as it is. What does not
 * look like that type stays text, so that the schema itself refuses it.
 * @param value one text, or several when the key stood in the query more than once
 */
export function coerceQuery(schema: z.ZodType, value: string | string[]): unknown {
  const definition = schema.def as unknown as Definition;
  switch (definition.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "catch":
    case "nonoptional":
    case "readonly":
      return definition.innerType ? coerceQuery(definition.innerType, value) : value;
    case "pipe":
      return definition.in ? coerceQuery(definition.in, value) : value;
    case "lazy":
      return definition.getter ? coerceQuery(definition.getter(), value) : value;
    case "array": {
      const { element } = definition;
      return element ? [value].flat().map((item) => coerceQuery(element, item)) : value;
    }
    case "union": {
      const tries = (definition.options ?? []).map((option) => ({ option, coerced: coerceQuery(option, value) }));
      return (tries.find(({ option, coerced }) => option.safeParse(coerced).success) ?? { coerced: value }).coerced;
    }
    case "literal":
      return definition.values?.find((literal) => String(literal) === value) ?? value;
    case "number":
      return typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
    case "boolean":
      return value === "true" || (value === "false" ? false : value);
    default:
      return value;
  }
}

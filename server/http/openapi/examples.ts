import { type ApiDocument, type JsonSchema, type MediaType, objectsIn, resolveRef } from "#server/http/openapi/types.ts";

// Examples are written once, in the metas of the zod schemas, mostly on single fields. Bodies are put together from them here.

/** The example that a schema itself names, or the one that it names first. */
function own(schema: JsonSchema): { value: unknown } | undefined {
  if ("example" in schema) return { value: schema.example };
  return schema.examples?.length ? { value: schema.examples[0] } : undefined;
}

const isNull = (schema: JsonSchema): boolean => schema.type === "null";
const typeOf = (schema: JsonSchema): string | undefined =>
  Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;

/** Examples by the name of the field that has one: a field of the same name and type without its own takes that. */
function bookOf(document: ApiDocument): Map<string, unknown> {
  const book = new Map<string, unknown>();
  for (const { properties } of objectsIn(document) as Iterable<JsonSchema>) {
    for (const [name, schema] of Object.entries(properties ?? {})) {
      const example = own(schema);
      const key = `${name}:${typeOf(schema)}`;
      if (example && !book.has(key)) book.set(key, example.value);
    }
  }
  return book;
}

const PLAIN: Record<string, unknown> = { string: "text", integer: 1, number: 1, boolean: true, null: null };

/**
 * Makes examples of schemas of this document.
 * @returns a function from a schema to a value that it takes; `isRequest` leaves out what only answers have, and optional
 *   fields unless they name an example
 */
export function exampleMaker(document: ApiDocument): (schema: JsonSchema, isRequest: boolean) => unknown {
  const book = bookOf(document);

  /** An example that stands in the schema, behind its reference or its "or null". */
  function named(schema: JsonSchema): { value: unknown } | undefined {
    const found = own(schema);
    if (found) return found;
    if (schema.$ref !== undefined) return named(resolveRef(document, schema));
    const choices = (schema.anyOf ?? schema.oneOf ?? []).filter((choice) => !isNull(choice));
    return choices.length === 1 && choices[0] ? named(choices[0]) : undefined;
  }

  function ofObject(schema: JsonSchema, isRequest: boolean, depth: number): Record<string, unknown> {
    const fields = Object.entries(schema.properties ?? {}).filter(
      ([name, field]) => !(isRequest && field.readOnly) && (schema.required?.includes(name) || named(field)),
    );
    return Object.fromEntries(fields.map(([name, field]) => [name, make(field, isRequest, depth + 1, name)]));
  }

  function make(schema: JsonSchema, isRequest: boolean, depth: number, name = ""): unknown {
    const found = own(schema);
    if (found) return found.value;
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    if (schema.$ref !== undefined) return depth > 12 ? null : make(resolveRef(document, schema), isRequest, depth + 1, name);
    const choices = schema.oneOf ?? schema.anyOf;
    const inner = choices?.find((choice) => !isNull(choice));
    const known = `${name}:${typeOf(inner ?? schema)}`;
    const mayBeNull = choices?.some(isNull) || (Array.isArray(schema.type) && schema.type.includes("null"));
    if (mayBeNull && !(inner && named(inner))) return book.get(known) ?? null;
    if (choices?.[0]) return make(inner ?? choices[0], isRequest, depth + 1, name);
    if (schema.enum) return schema.enum[0];
    const type = typeOf(schema);
    if (type === "object") return ofObject(schema, isRequest, depth);
    if (book.has(known)) return book.get(known);
    if (type === "array") return schema.items ? [make(schema.items, isRequest, depth + 1, name)] : [];
    return type === undefined ? {} : PLAIN[type];
  }

  return (schema, isRequest) => make(schema, isRequest, 0);
}

/** Gives every JSON body of every operation an example, in place, unless it has one. */
export function addExamples(document: ApiDocument): void {
  const example = exampleMaker(document);
  const fill = (media: MediaType | undefined, isRequest: boolean) => {
    if (media?.schema && !("example" in media)) media.example = example(media.schema, isRequest);
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      fill(operation.requestBody?.content["application/json"], true);
      for (const response of Object.values(operation.responses)) fill(response.content?.["application/json"], false);
    }
  }
}

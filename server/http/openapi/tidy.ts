import { isDeepStrictEqual } from "node:util";
import { type ApiDocument, type JsonSchema, objectsIn } from "#server/http/openapi/types.ts";

// What the generator writes and no reader needs.

/** Bounds of what JavaScript counts exactly, and patterns of formats that bear a name, say nothing to a reader. */
function tidySchema(schema: JsonSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined && typeof schema.pattern === "string") delete schema.pattern;
}

const open = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema, (key, value) => (key === "additionalProperties" && value === false ? undefined : value)));

/**
 * A shape that is sent and answered is generated twice, as `Shape` and `ShapeOutput`, when its answer is closed to further
 * keys. Where that is the only difference, both become `Shape`; so may then what refers to them.
 */
function mergeTwins(document: ApiDocument): void {
  const schemas = document.components.schemas ?? {};
  const renamed = new Map<unknown, string>();
  for (const [name, schema] of Object.entries(schemas)) {
    const base = name.endsWith("Output") ? name.slice(0, -"Output".length) : name;
    const twin = schemas[base];
    if (base === name || !twin || !isDeepStrictEqual(open(schema), open(twin))) continue;
    delete schemas[name];
    renamed.set(`#/components/schemas/${name}`, `#/components/schemas/${base}`);
  }
  if (renamed.size === 0) return;
  // References stand under $ref, and in the mapping of a discriminator.
  for (const part of objectsIn(document)) {
    for (const [key, value] of Object.entries(part)) {
      const other = renamed.get(value);
      if (other) part[key] = other;
    }
  }
  mergeTwins(document);
}

/** Shapes that a schema brings along under `$defs`, as zod alone writes them, become shapes of the document. */
function hoistDefinitions(document: ApiDocument): void {
  const schemas = document.components.schemas ?? {};
  for (const part of [...objectsIn(document)] as JsonSchema[]) {
    const definitions = part.$defs as Record<string, JsonSchema> | undefined;
    if (!definitions) continue;
    delete part.$defs;
    for (const [name, schema] of Object.entries(definitions)) {
      const known = schemas[name];
      const hoisted = !known || isDeepStrictEqual(known, schema) ? name : `${name}Input`;
      schemas[hoisted] = schema;
      for (const inner of objectsIn(part)) if (inner.$ref === `#/$defs/${name}`) inner.$ref = `#/components/schemas/${hoisted}`;
    }
  }
}

/** Takes out of the document, in place, what only the generator needs. */
export function tidy(document: ApiDocument): void {
  // The generator's own error bodies are not ours.
  for (const name of Object.keys(document.components.schemas ?? {})) {
    if (name.startsWith("error.")) delete document.components.schemas?.[name];
  }
  for (const part of objectsIn(document)) tidySchema(part);
  hoistDefinitions(document);
  mergeTwins(document);
}

/** The parts of the OpenAPI document that the reference shows. */
export interface ApiSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  enum?: unknown[];
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  format?: string;
  default?: unknown;
  readOnly?: boolean;
  additionalProperties?: boolean | ApiSchema;
}

interface ApiParameter {
  $ref?: string;
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema?: ApiSchema;
}

interface ApiResponse {
  $ref?: string;
  description?: string;
  content?: Record<string, { schema?: ApiSchema }>;
}

export interface ApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: ApiParameter[];
  requestBody?: { content?: Record<string, { schema?: ApiSchema }> };
  responses: Record<string, ApiResponse>;
}

export interface ApiDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  paths: Record<string, Record<string, ApiOperation>>;
  components: { schemas?: Record<string, ApiSchema>; parameters?: Record<string, ApiParameter>; responses?: Record<string, ApiResponse> };
}

export interface ListedOperation extends ApiOperation {
  method: string;
  path: string;
}

/** Operations by tag, in the order of the document. */
export function operationsByTag(document: ApiDocument): Map<string, ListedOperation[]> {
  const groups = new Map<string, ListedOperation[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? "Other";
      groups.set(tag, [...(groups.get(tag) ?? []), { ...operation, method: method.toUpperCase(), path }]);
    }
  }
  return groups;
}

const lastPart = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

/** What `$ref` points at, or the thing itself. */
export function resolve<Thing extends { $ref?: string }>(thing: Thing, table: Record<string, Thing> | undefined): Thing {
  return thing.$ref === undefined ? thing : (table?.[lastPart(thing.$ref)] ?? thing);
}

/** A type in words: `string`, `integer or null`, `list of Agent`, `pending | queued`. */
export function typeName(schema: ApiSchema): string {
  if (schema.$ref !== undefined) return lastPart(schema.$ref);
  if (schema.enum) return schema.enum.map(String).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeName))].join(" or ");
  if (schema.type === "array") return `list of ${schema.items ? typeName(schema.items) : "anything"}`;
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === undefined) return "anything";
  return schema.format === "date-time" ? "timestamp" : schema.type;
}

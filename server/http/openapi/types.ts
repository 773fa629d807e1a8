/** JSON Schema as far as the document uses it. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  format?: string;
  pattern?: string;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  readOnly?: boolean;
  additionalProperties?: boolean | JsonSchema;
  [key: string]: unknown;
}

export interface MediaType {
  schema?: JsonSchema;
  example?: unknown;
}

export interface Parameter {
  $ref?: string;
  in?: "path" | "query" | "header";
  name?: string;
  required?: boolean;
  description?: string;
  schema?: JsonSchema;
  example?: unknown;
}

export interface ApiResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  /** Who may call: public, user (any valid key), install_admin, or the role in the project. */
  "x-required-role"?: string | undefined;
  /** The scope that a platform key needs for it. */
  "x-required-scope"?: string | undefined;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; description?: string; content: Record<string, MediaType> };
  responses: Record<string, ApiResponse>;
}

export interface ApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers?: { url: string; description?: string }[];
  tags?: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas?: Record<string, JsonSchema>;
    headers?: Record<string, unknown>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, ApiResponse>;
    securitySchemes?: Record<string, unknown>;
  };
}

/** The part of the document that `#/a/b/c` names. */
export function resolveRef<Part extends { $ref?: string }>(document: ApiDocument, part: Part): Part {
  if (part.$ref === undefined) return part;
  const found = part.$ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
  if (!found) throw new Error(`${part.$ref} leads nowhere.`);
  return found as Part;
}

/** Every object inside `value`, itself first. */
export function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

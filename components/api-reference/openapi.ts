import { containsWords } from "#server/shared/fold-text.ts";

/** The parts of the OpenAPI document that the reference shows. */
export interface ApiSchema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: ApiSchema[];
  oneOf?: ApiSchema[];
  format?: string;
  contentMediaType?: string;
  default?: unknown;
  example?: unknown;
  readOnly?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  additionalProperties?: boolean | ApiSchema;
}

export interface ApiParameter {
  $ref?: string;
  in: "path" | "query" | "header";
  name: string;
  required?: boolean;
  description?: string;
  schema?: ApiSchema;
}

export interface ApiMedia {
  schema?: ApiSchema;
  example?: unknown;
}

export interface ApiResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, ApiMedia>;
}

export interface ApiOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: ApiParameter[];
  requestBody?: { description?: string; required?: boolean; content?: Record<string, ApiMedia> };
  responses: Record<string, ApiResponse>;
}

export interface ApiDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, ApiOperation>>;
  components: { schemas?: Record<string, ApiSchema>; parameters?: Record<string, ApiParameter>; responses?: Record<string, ApiResponse> };
}

export interface ListedOperation extends ApiOperation {
  /** In capitals. */
  method: string;
  path: string;
}

export interface OperationGroup {
  tag: string;
  description: string;
  operations: ListedOperation[];
}

/** The operations by tag, in the order of the document's tags, each with its parameters resolved. */
export function operationGroups(document: ApiDocument): OperationGroup[] {
  const groups = new Map<string, OperationGroup>(
    (document.tags ?? []).map(({ name, description = "" }) => [name, { tag: name, description, operations: [] }]),
  );
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? "Other";
      const group = groups.get(tag) ?? { tag, description: "", operations: [] };
      groups.set(tag, group);
      const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, document.components.parameters));
      group.operations.push({ ...operation, parameters, method: method.toUpperCase(), path });
    }
  }
  return [...groups.values()].filter(({ operations }) => operations.length > 0);
}

/** The groups with what every word of `search` occurs in: method, path, summary or tag. */
export function searchGroups(groups: readonly OperationGroup[], search: string): OperationGroup[] {
  return groups
    .map((group) => ({
      ...group,
      operations: group.operations.filter(({ method, path, summary = "" }) =>
        containsWords(`${method} ${path} ${summary} ${group.tag}`, search),
      ),
    }))
    .filter(({ operations }) => operations.length > 0);
}

const lastPart = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

/** What `$ref` points at, or the thing itself. */
export function resolve<Thing extends { $ref?: string }>(thing: Thing, table: Record<string, Thing> | undefined): Thing {
  return thing.$ref === undefined ? thing : (table?.[lastPart(thing.$ref)] ?? thing);
}

/** A type in words: `string`, `integer or null`, `list of Agent`, `pending | queued`. */
export function typeName(schema: ApiSchema): string {
  if (schema.$ref !== undefined) return lastPart(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map(String).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeName))].join(" or ");
  if (schema.type === "array") return `list of ${schema.items ? typeName(schema.items) : "anything"}`;
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === undefined) return "anything";
  return schema.format === "date-time" ? "timestamp" : schema.type;
}

/** The bounds of a value in words: `1 to 200`, `at most 120 characters`; empty without any. */
function bounds({ minimum, maximum, minLength, maxLength, maxItems }: ApiSchema): string {
  const count = (number: number) => number.toLocaleString("en");
  if (minimum !== undefined && maximum !== undefined) return `${count(minimum)} to ${count(maximum)}`;
  if (minimum !== undefined) return `at least ${count(minimum)}`;
  if (maximum !== undefined) return `at most ${count(maximum)}`;
  if (maxLength !== undefined)
    return minLength && minLength > 1 ? `${count(minLength)} to ${count(maxLength)} characters` : `at most ${count(maxLength)} characters`;
  return maxItems === undefined ? "" : `at most ${count(maxItems)} items`;
}

/** What a value is for, and its bounds, as one phrase. */
export function describeSchema(schema: ApiSchema, description = schema.description ?? ""): string {
  const limits = bounds(schema);
  if (!description || !limits) return description || limits;
  return description.endsWith(".") ? `${description} ${limits.charAt(0).toUpperCase()}${limits.slice(1)}.` : `${description}; ${limits}`;
}

/** Whether calling it takes something away that cannot be had back, so that it is asked for first. */
export const isDestructive = ({ method, summary = "" }: ListedOperation): boolean =>
  method === "DELETE" || /^(delete|remove|cancel|disconnect|set up a webhook)/i.test(summary);

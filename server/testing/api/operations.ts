import type { Door } from "#server/testing/api/send.ts";

// What GET /api/v1/openapi.json says that there is to call, for the tests that walk all of it.

interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  /** A value that the document shows, or one of its type where it is required; else undefined. */
  example?: unknown;
}

export interface Operation {
  /** E.g. `POST /agents/{agent_id}/test`. */
  name: string;
  method: string;
  /** With `{parameters}`, below /api/v1. */
  path: string;
  parameters: Parameter[];
  /** Names of the JSON body's fields; more may be in a sample of it. */
  bodyFields: string[];
  /** The JSON body that the document shows; undefined where it takes none. */
  bodyExample: Record<string, unknown> | undefined;
  /** Every status that the document names. */
  statuses: number[];
  /** Those of them that mean success. */
  successes: number[];
  /** Whom the document says that it needs. */
  declaredRole: unknown;
  /** Whether it is one of the web app's own, which the browser's session opens and no key. */
  sessionOnly: boolean;
}

interface DescribedParameter extends Partial<Parameter> {
  $ref?: string;
  required?: boolean;
  schema?: { type?: string; enum?: unknown[]; example?: unknown; examples?: unknown[] };
}

interface Described {
  parameters?: DescribedParameter[];
  requestBody?: { content?: Record<string, { schema?: Schema; example?: Record<string, unknown> }> };
  responses: Record<string, unknown>;
  "x-required-role"?: unknown;
}

interface Schema {
  $ref?: string;
  properties?: Record<string, unknown>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

export interface ApiDocument {
  paths: Record<string, Record<string, Described>>;
  components: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const PLAIN: Record<string, unknown> = { string: "text", integer: 1, number: 1, boolean: true };
const nameOf = (ref: string) => ref.split("/").at(-1) ?? "";

function fieldsOf(document: ApiDocument, schema: Schema | undefined): string[] {
  if (!schema) return [];
  if (schema.$ref) return fieldsOf(document, document.components.schemas?.[nameOf(schema.$ref)]);
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [...new Set([...Object.keys(schema.properties ?? {}), ...parts.flatMap((part) => fieldsOf(document, part))])];
}

function exampleOf({ example, schema = {}, required }: DescribedParameter): unknown {
  const shown = example ?? schema.example ?? schema.examples?.[0];
  return shown === undefined && required ? (schema.enum?.[0] ?? PLAIN[schema.type ?? ""]) : shown;
}

function parametersOf(document: ApiDocument, { parameters = [] }: Described): Parameter[] {
  return parameters.flatMap((parameter) => {
    const found = parameter.$ref ? document.components.parameters?.[nameOf(parameter.$ref)] : parameter;
    return found?.in && found.name ? [{ in: found.in, name: found.name, example: exampleOf(parameter) }] : [];
  });
}

/** Every operation of the document, in its order. */
export async function readOperations({ url, fetch }: Door): Promise<Operation[]> {
  return operationsOf((await (await fetch(`${url}/api/v1/openapi.json`, {})).json()) as ApiDocument);
}

/** Every operation of a document, in its order. @param sessionOnly whether it is that of the web app's own */
export function operationsOf(document: ApiDocument, sessionOnly = false): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): Operation[] => {
      const described = item[method];
      if (!described) return [];
      const statuses = Object.keys(described.responses).map(Number);
      const body = described.requestBody?.content?.["application/json"];
      return [
        {
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          parameters: parametersOf(document, described),
          bodyFields: fieldsOf(document, body?.schema),
          bodyExample: body?.example,
          statuses,
          successes: statuses.filter((status) => status < 300),
          declaredRole: described["x-required-role"],
          sessionOnly,
        },
      ];
    }),
  );
}

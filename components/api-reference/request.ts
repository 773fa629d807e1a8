import {
  type ApiDocument,
  type ApiMedia,
  type ApiParameter,
  type ApiSchema,
  type ListedOperation,
  resolve,
} from "#components/api-reference/openapi.ts";

/** What somebody typed for one call: texts by field, as `path.name`, `query.name`, `header.name` or `body.name`. */
export type Typed = Readonly<Record<string, string>>;

/** The one name under which a body that is no object with named fields is typed. */
export const WHOLE_BODY = "body";

export interface BodyField {
  name: string;
  schema: ApiSchema;
  isRequired: boolean;
  isNullable: boolean;
}

/** A call that can be sent or shown; the key is put in by whoever sends it. */
export interface BuiltRequest {
  method: string;
  /** Path and query below the base address. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Which header parameters are set for all operations at once, so that no card asks for them. */
const SHARED_HEADERS = ["X-Project-Slug", "X-Project-ID"];

export const takesProject = ({ parameters = [] }: ListedOperation): boolean => parameters.some(({ name }) => SHARED_HEADERS.includes(name));

/** The parameters that a card asks for. */
export const ownParameters = ({ parameters = [] }: ListedOperation): ApiParameter[] =>
  parameters.filter(({ name }) => !SHARED_HEADERS.includes(name));

/** The body that is sent as JSON, if the operation takes one. */
export const jsonBody = ({ requestBody }: ListedOperation): ApiMedia | undefined => requestBody?.content?.["application/json"];

/** The body that is sent as a form with files, if the operation takes one. */
export const formBody = ({ requestBody }: ListedOperation): ApiMedia | undefined => requestBody?.content?.["multipart/form-data"];

/** The fields of a body that can be filled in, or none when it is to be typed as a whole. */
export function bodyFields(media: ApiMedia | undefined, document: ApiDocument): BodyField[] {
  const schema = media?.schema && resolve(media.schema, document.components.schemas);
  return Object.entries(schema?.properties ?? {})
    .filter(([, field]) => field.readOnly !== true)
    .map(([name, field]) => ({
      name,
      schema: plain(field, document),
      isRequired: schema?.required?.includes(name) ?? false,
      isNullable: [field.type ?? []].flat().includes("null") || (field.anyOf ?? []).some(({ type }) => type === "null"),
    }));
}

/** A schema without its reference and without "or null". */
function plain(schema: ApiSchema, document: ApiDocument): ApiSchema {
  const target = resolve(schema, document.components.schemas);
  const choices = (target.anyOf ?? []).filter(({ type }) => type !== "null");
  if (choices.length === 1 && choices[0])
    return { ...plain(choices[0], document), ...(target.description && { description: target.description }) };
  const types = [target.type ?? []].flat().filter((type) => type !== "null");
  return {
    ...target,
    ...(schema.description && { description: schema.description }),
    ...(types.length === 1 && types[0] && { type: types[0] }),
  };
}

/** Whether a field is typed as JSON: lists, objects and what may be anything. */
export const isJsonField = ({ type, enum: choices }: ApiSchema): boolean =>
  !choices && !(type === "string" || type === "integer" || type === "number" || type === "boolean");

const asText = (value: unknown, schema: ApiSchema): string =>
  typeof value === "string" && !isJsonField(schema) ? value : JSON.stringify(value, null, 2);

/**
 * What stands in the fields at first: the body's example; of a PUT only what is required, because a field that is left out
 * keeps its value.
 */
export function exampleInput(operation: ListedOperation, document: ApiDocument): Record<string, string> {
  const typed: Record<string, string> = {};
  const media = jsonBody(operation);
  const fields = bodyFields(media, document);
  const example = (media?.example ?? {}) as Record<string, unknown>;
  for (const { name, schema, isRequired } of fields) {
    if (name in example && (isRequired || operation.method !== "PUT")) typed[`body.${name}`] = asText(example[name], schema);
  }
  if (media && fields.length === 0) typed[WHOLE_BODY] = JSON.stringify(media.example ?? {}, null, 2);
  return typed;
}

/** A typed text as the value that the schema wants. @throws Error with a sentence when it is no such value */
function typedValue(text: string, schema: ApiSchema, name: string): unknown {
  if (isJsonField(schema)) {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${name} is not JSON. Check it for stray commas and quotes.`);
    }
  }
  if (schema.type === "boolean") return text === "true";
  if ((schema.type === "integer" || schema.type === "number") && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  // What is no number is for the server to refuse.
  return text;
}

/** The JSON body as it will be sent, or undefined when nothing was typed. @throws Error when a field is not JSON */
export function buildBody(operation: ListedOperation, document: ApiDocument, typed: Typed): unknown {
  const media = jsonBody(operation);
  if (!media) return undefined;
  const whole = typed[WHOLE_BODY];
  if (whole !== undefined) return whole.trim() === "" ? undefined : typedValue(whole, {}, "The body");
  const entries = bodyFields(media, document).flatMap(({ name, schema, isNullable }) => {
    const text = typed[`body.${name}`] ?? "";
    return text === "" ? [] : [[name, isNullable && text === "null" ? null : typedValue(text, schema, name)] as const];
  });
  return entries.length ? Object.fromEntries(entries) : undefined;
}

/**
 * The call that the typed texts make. Empty optional fields are left out.
 * @throws Error with a sentence when a field of the path is empty or a text is not JSON
 */
export function buildRequest(operation: ListedOperation, document: ApiDocument, typed: Typed): BuiltRequest {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let { path } = operation;
  for (const parameter of ownParameters(operation)) {
    const text = typed[`${parameter.in}.${parameter.name}`] ?? "";
    if (parameter.in === "path") {
      if (text === "") throw new Error(`Fill in ${parameter.name}.`);
      path = path.replace(`{${parameter.name}}`, encodeURIComponent(text));
    } else if (text !== "") {
      if (parameter.in === "query") query.append(parameter.name, text);
      else headers[parameter.name] = text;
    }
  }
  const body = buildBody(operation, document, typed);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const search = query.toString();
  return {
    method: operation.method,
    path: search ? `${path}?${search}` : path,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body, null, 2) }),
  };
}

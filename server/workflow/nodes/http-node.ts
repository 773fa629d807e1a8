import { z } from "zod";
import { dictionary, embedded } from "#server/shared/json-text.ts";
import { referencesOf } from "#server/workflow/expressions.ts";
import {
  defineNode,
  type HttpCall,
  type NodeContext,
  type NodeProblem,
  type NodeScope,
  onError,
  template,
} from "#server/workflow/nodes/definition.ts";
import { anyCase } from "#server/workflow/resolve-expressions.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;
/** Of these a second one changes nothing more than the first. */
const REPEATABLE: readonly string[] = ["GET", "HEAD", "PUT", "DELETE"];
const SHOWN_BODY = 2000;

const Pair = z.strictObject({
  name: z.string().max(200).default("").meta({ title: "Name" }),
  value: z
    .string()
    .max(20_000)
    .default("")
    .meta({ title: "Value", ...template }),
});

const Auth = z.strictObject({
  kind: z.enum(["none", "bearer", "basic", "header"]).default("none").meta({ title: "Kind" }),
  credential: z.string().max(100).default("").meta({
    title: "Credential",
    description: "Name of one of the project's; what it holds is the token or the password",
    widget: "credential",
  }),
  username: z
    .string()
    .max(2000)
    .optional()
    .meta({ title: "User name", description: "For basic; may hold expressions", ...template }),
  header: z.string().max(200).optional().meta({ title: "Header", description: "For header: its name" }),
});

const inForm = { title: "Authentication", widget: "group" } as const;
/** Of each kind the fields that it has, for its form. */
export const AuthFields = {
  none: Auth.pick({ kind: true }).meta(inForm),
  bearer: Auth.pick({ kind: true, credential: true }).meta(inForm),
  basic: Auth.pick({ kind: true, username: true, credential: true }).meta(inForm),
  header: Auth.pick({ kind: true, header: true, credential: true }).meta(inForm),
};

export const TextBody = z
  .string()
  .max(200_000)
  .meta({ title: "What is sent", description: "Empty sends what came before", widget: "textarea", ...template });
export const FormBody = z.array(Pair).max(50).meta({ title: "What is sent", widget: "rows", item: "form field" });

const config = z.looseObject({
  method: z.enum(METHODS).default("GET").meta({ title: "Method" }),
  url: z
    .string()
    .max(10_000)
    .default("")
    .meta({ title: "Address", description: "Begins with https:// or http://", ...template }),
  query: z.array(Pair).max(50).default([]).meta({ title: "Query", widget: "rows", item: "query value" }),
  headers: z.array(Pair).max(50).default([]).meta({ title: "Headers", widget: "rows", item: "header" }),
  auth: Auth.default({ kind: "none", credential: "" }).meta(inForm),
  body_type: z.enum(["none", "json", "form", "text"]).default("none").meta({ title: "Body" }),
  body: z
    .union([TextBody, FormBody])
    .default("")
    .meta({ title: "What is sent", description: "Empty sends what came before; of a form, a list of names and values" }),
  timeout: z
    .number()
    .int()
    .min(1)
    .max(300)
    .default(30)
    .meta({ title: "Timeout", description: "Most seconds for each try", advanced: true }),
  retries: z.number().int().min(0).max(5).optional().meta({
    title: "Retries",
    description: "Further tries when the server is busy or the line drops; left out 2, of POST and PATCH none",
    advanced: true,
  }),
  accept: z.enum(["2xx", "any"]).default("2xx").meta({ title: "Accepted answers", advanced: true }),
  follow_redirects: z.boolean().default(true).meta({ title: "Follow redirects", advanced: true }),
  on_error: onError,
});
type Config = z.infer<typeof config>;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What HTTP itself says with them would not be true any more. */
const OURS = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "accept-encoding",
]);

/** True for a header that nobody else may set. */
export const isServiceHeader = (name: string): boolean => OURS.has(name.toLowerCase()) || /^proxy-/i.test(name);

function headerFault(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return name === "" ? "Give each header a name." : `"${name}" is no name of a header.`;
  return isServiceHeader(name) ? `The header ${name} is set by the service itself. Remove it.` : undefined;
}

function authProblems({ auth }: Config, scope: NodeScope): NodeProblem[] {
  const problem = (message: string) => [{ field: "auth", message }];
  if (auth.kind === "none") return [];
  if (!auth.credential) return problem("Choose the credential that proves who asks.");
  if (scope.credentialNames && !scope.credentialNames.includes(auth.credential))
    return problem(`The project has no credential "${auth.credential}". Add it in the project's settings.`);
  if (auth.kind === "basic" && !auth.username) return problem("Give the user name that belongs to the password.");
  const fault = auth.kind === "header" ? headerFault(auth.header ?? "") : undefined;
  return fault ? problem(fault) : [];
}

function problems(written: Config, scope: NodeScope): NodeProblem[] {
  const { url, headers, body_type, body } = written;
  const isFixed = referencesOf(url).length === 0;
  const names = headers.flatMap(({ name }) => headerFault(name.trim()) ?? []);
  return [
    ...(url.trim() === "" ? [{ field: "url", message: "Write the address, for example https://api.example.com/items." }] : []),
    ...(url.trim() !== "" && isFixed && !addressIn(url) ? [{ field: "url", message: NO_ADDRESS }] : []),
    ...[...new Set(names)].map((message) => ({ field: "headers", message })),
    ...(body_type === "form" && typeof body === "string" && body.trim() !== ""
      ? [{ field: "body", message: "A form is a list of names and values." }]
      : []),
    ...(body_type !== "form" && typeof body !== "string" ? [{ field: "body", message: "Write the body as one text." }] : []),
    ...authProblems(written, scope),
  ];
}

const NO_ADDRESS = "This is no address. Begin it with https:// or http://, and leave out user name and password.";

/** The address that a text is, or undefined. */
function addressIn(text: string): URL | undefined {
  if (!URL.canParse(text.trim())) return undefined;
  const url = new URL(text.trim());
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" ? url : undefined;
}

const encodedPart = (text: string): string => encodeURIComponent(text.toWellFormed());

/**
 * The address with its query as it is written, as signatures may cover it, and the rows after it.
 * @throws Error for what is no address
 */
function addressOf({ url, query }: Config): string {
  const address = addressIn(url);
  if (!address) throw new Error(NO_ADDRESS);

  const written = /\?([^#]*)/.exec(url.trim())?.[1]?.replace(/[\t\n\r]/g, "") ?? "";
  const typed = written.toWellFormed().replace(/[^!$-;=?-~]+/g, encodeURIComponent);
  const rows = query.map(({ name, value }) => `${encodedPart(name)}=${encodedPart(value)}`);
  const search = [...(typed ? [typed] : []), ...rows].join("&");
  return `${address.origin}${address.pathname}${search && `?${search}`}`;
}

/** @throws Error for a value that would end the header, and say more than one */
function headerValue(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come
  if (/[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/.test(value.trim()))
    throw new Error(`The value of the header ${name} has a line break, or a sign that headers cannot hold.`);
  return value.trim();
}

type Sent = Pick<HttpCall, "headers" | "body">;

/** What is sent besides method and address. @throws Error for what cannot be sent */
async function contentOf(ctx: NodeContext<Config>): Promise<Sent> {
  const { config: written, upstream, jsonText, isJson, readsSecret } = ctx;
  const { body, body_type } = written;
  const headers: HttpCall["headers"] = [];
  for (const [index, { name, value }] of written.headers.entries()) {
    const fault = headerFault(name.trim());
    if (fault) throw new Error(fault);
    headers.push({ name: name.trim(), value: headerValue(name, value), isSecret: readsSecret(`headers.${index}.value`) });
  }
  const add = (name: string, value: string, isSecret = false) => {
    if (!headers.some((one) => one.name.toLowerCase() === name.toLowerCase())) headers.push({ name, value, isSecret });
  };
  for (const [name, value] of authHeader(ctx)) add(name, headerValue(name, value), true);
  // A node may have any id; a header holds plain letters.
  add("Idempotency-Key", ctx.visit.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent));
  if (body_type === "none") return { headers, body: undefined };
  const isEmpty = typeof body === "string" ? body.trim() === "" : body.length === 0;
  const isSecret = typeof body === "string" ? readsSecret("body") : body.some((_, index) => readsSecret(`body.${index}.value`));
  const type = { json: "application/json", form: "application/x-www-form-urlencoded", text: "text/plain; charset=utf-8" }[body_type];
  add("Content-Type", type);
  if (body_type === "form" && typeof body !== "string" && !isEmpty) {
    const text = new URLSearchParams(body.map(({ name, value }) => [name, value])).toString();
    return { headers, body: { text, isSecret } };
  }
  if (body_type !== "json") return { headers, body: { text: typeof body === "string" && !isEmpty ? body : upstream, isSecret } };
  const text = isEmpty ? embedded(upstream) : await jsonText("body");
  if (!(await isJson(text))) throw new Error(`The body is not JSON. It begins: ${text.slice(0, 200).toWellFormed()}`);
  return { headers, body: { text, isSecret } };
}

/** The header that proves who asks. */
function authHeader({ config: { auth }, secret }: NodeContext<Config>): [name: string, value: string][] {
  if (auth.kind === "none") return [];
  const value = secret(auth.credential);
  if (auth.kind === "header") return [[auth.header ?? "", value]];
  if (auth.kind === "bearer") return [["Authorization", `Bearer ${value}`]];
  const username = auth.username ?? "";
  if (username.includes(":")) throw new Error("The user name for Basic authentication holds a colon. Use a name without one.");
  const bytes = new TextEncoder().encode(`${username}:${value}`);
  return [["Authorization", `Basic ${btoa(String.fromCharCode(...bytes))}`]];
}

async function run(ctx: NodeContext<Config>) {
  const { method, timeout, retries = REPEATABLE.includes(method) ? 2 : 0, follow_redirects, accept } = ctx.config;
  const url = addressOf(ctx.config);
  const answer = await ctx.callHttp({ method, url, timeout, retries, follow_redirects, ...(await contentOf(ctx)) });
  if (accept === "2xx" && (answer.status < 200 || answer.status > 299)) {
    const said = answer.text.trim();
    const words = said ? `: ${said.length > SHOWN_BODY ? `${said.slice(0, SHOWN_BODY).toWellFormed()}…` : said}` : " without a body.";
    throw new Error(`The server answered ${answer.status}${words}`);
  }
  return { output: answer.text };
}

function shownInput(written: Config): string {
  const { method, body, body_type } = written;
  // One with a password in it is refused, and the log need not repeat that.
  const address = addressIn(written.url) ? addressOf(written) : written.url.replace(/\/\/[^/?#]*@/, "//••••@");
  const sent = body_type === "none" ? "" : typeof body === "string" ? body : JSON.stringify(body);
  return `${method} ${address}${sent ? `\n\n${sent}` : ""}`;
}

export const httpNode = defineNode({
  type: "httpNode",
  title: "HTTP",
  summary: "Calls an address of the web, and passes on what it answers",
  group: "data",
  hasInput: true,
  handles: null,
  isEffect: true,
  readsSecrets: true,
  mostStarts: 2,
  input: "body",
  takesUpstream: ({ body_type, body }) => body_type !== "none" && (typeof body === "string" ? body.trim() === "" : body.length === 0),
  shownInput,
  fields: {
    status: ({ details }) => details.status ?? "",
    headers: ({ details }) => anyCase(dictionary(details.headers ?? {})),
  },
  credentials: ({ auth }) => (auth.kind === "none" || !auth.credential ? [] : [auth.credential]),
  reachesOut: () => true,
  config,
  pin: () => ({ handle: null }),
  problems,
  run,
});

import { optionsOf, type Row, type Said } from "#components/workflow-editor/curl/curl-options.ts";
import { type CurlSecret, isPlaceholder, isSecretName, Secrets, withoutSecrets } from "#components/workflow-editor/curl/curl-secrets.ts";
import { wordsOf } from "#components/workflow-editor/curl/shell-words.ts";
import type { NodeConfig } from "#components/workflow-editor/nodes/types.ts";
import { httpNode, isServiceHeader } from "#server/workflow/nodes/http-node.ts";

// A `curl` command as the fields of an HTTP node.

type Config = NodeConfig<"httpNode">;

export interface CurlCall {
  /** Fields to set. Secrets stand in them by the names of credentials. */
  config: Pick<Config, "method" | "url" | "query" | "headers" | "auth" | "body_type" | "body"> &
    Partial<Pick<Config, "timeout" | "retries">>;
  secrets: CurlSecret[];
  /** What of the command is done otherwise, as sentences. */
  notes: string[];
}

/** Most characters of a command. */
const MOST = 300_000;

function authOf(said: Said, secrets: Secrets): Config["auth"] {
  const none = { kind: "none", credential: "" } as const;
  const basic = (pair: string): Config["auth"] => {
    const [username = "", ...rest] = pair.split(":");
    const password = rest.join(":");
    // Some have the key as the name of a user who has no password.
    if (rest.length > 0 && password === "") {
      const isOpen = isPlaceholder(username);
      const kept = secrets.keep("Key", isOpen ? username : btoa(String.fromCharCode(...new TextEncoder().encode(pair))), "basic");
      said.headers.push({ name: "Authorization", value: `Basic {{credentials.${kept}}}` });
      return none;
    }
    return { kind: "basic", username, credential: password === "" ? "" : secrets.keep("Password", password, "password") };
  };
  if (said.bearer !== undefined) return { kind: "bearer", credential: secrets.keep("Bearer token", said.bearer, "token") };
  if (said.user !== undefined) return basic(said.user);
  const at = said.headers.findIndex(({ name }) => name.toLowerCase() === "authorization");
  const [scheme = "", rest = ""] = (said.headers[at]?.value ?? "").split(/\s+(.*)/s);
  if (/^bearer$/i.test(scheme) && rest) {
    said.headers.splice(at, 1);
    return { kind: "bearer", credential: secrets.keep("Bearer token", rest.trim(), "token") };
  }
  const pair = /^basic$/i.test(scheme) ? basicPair(rest.trim()) : undefined;
  if (pair !== undefined) {
    said.headers.splice(at, 1);
    return basic(pair);
  }
  if (at >= 0 && rest) {
    // Any other scheme stands before the secret.
    said.headers[at] = { name: "Authorization", value: `${scheme} {{credentials.${secrets.keep("Authorization", rest.trim(), "token")}}}` };
    return none;
  }
  const key = said.headers.findIndex(({ name, value }) => value !== "" && isSecretName(name) && name.toLowerCase() !== "cookie");
  const [found] = key < 0 ? [] : said.headers.splice(key, 1);
  if (!found) return none;
  return { kind: "header", header: found.name, credential: secrets.keep(found.name, found.value, found.name.replace(/^x[-_]/i, "")) };
}

function basicPair(encoded: string): string | undefined {
  try {
    const text = new TextDecoder().decode(Uint8Array.from(atob(encoded), (sign) => sign.charCodeAt(0)));
    return text.includes(":") ? text : undefined;
  } catch {
    return undefined;
  }
}

/** `a=1&b=2` as rows; undefined for what would not be the same again. */
function rowsOf(text: string): Row[] | undefined {
  const pieces = text.split("&").filter(Boolean);
  if (pieces.length === 0 || pieces.length > 50 || !pieces.every((piece) => piece.includes("="))) return undefined;
  try {
    return pieces.map((piece) => {
      const [name = "", ...rest] = piece.split("=");
      const plain = (part: string) => decodeURIComponent(part.replaceAll("+", " "));
      return { name: plain(name), value: plain(rest.join("=")) };
    });
  } catch {
    return undefined;
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

type Body = Pick<Config, "body_type" | "body">;

/** The body, and the headers without the one that its kind says by itself. */
function bodyOf(said: Said, secrets: Secrets): Body & { headers: Row[] } {
  const { headers } = said;
  const type = headers.find(({ name }) => name.toLowerCase() === "content-type")?.value ?? "";
  const others = headers.filter(({ name }) => name.toLowerCase() !== "content-type");
  if (said.parts.length > 0) {
    said.notes.add("The command sends a multipart form, and an HTTP node does not: its fields are sent as a form of names and values.");
    return { body_type: "form", body: said.parts.map((row) => secrets.row(row)), headers: others };
  }
  const text = said.data.join("&");
  if (said.isGet || said.data.length === 0) return { body_type: "none", body: "", headers };
  const isFile = text === "" && said.notes.size > 0;
  const media = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isForm = media === "application/x-www-form-urlencoded" || type === "";
  // Who leaves the type out and sends an object means JSON, whatever curl says of it.
  if (said.isJson || /^application\/(?:[\w.-]+\+)?json$/.test(media) || (type === "" && /^\s*[[{]/.test(text)))
    if (isFile || isJson(text))
      return {
        body_type: "json",
        body: isFile ? "" : withoutSecrets(text, secrets),
        headers: media === "application/json" ? others : headers,
      };
  if (text === "" && !isFile) return { body_type: "none", body: "", headers };
  const rows = isForm ? rowsOf(text) : undefined;
  if (rows) return { body_type: "form", body: rows.map((row) => secrets.row(row)), headers: others };
  const typed = type === "" ? [...headers, { name: "Content-Type", value: "application/x-www-form-urlencoded" }] : headers;
  return { body_type: "text", body: text, headers: typed };
}

/** Method of the command; one that is not known is noted. */
function methodOf(said: Said): Config["method"] {
  const sends = said.data.length > 0 || said.parts.length > 0;
  const usual = said.isHead ? "HEAD" : sends && !said.isGet ? "POST" : "GET";
  const method = httpNode.config.shape.method.safeParse(said.method ?? usual);
  if (method.success) return method.data;
  said.notes.add(`The method ${said.method} cannot be sent. Choose another one.`);
  return usual;
}

/**
 * What a command of curl does, as an HTTP node's fields.
 * @param names of credentials to use instead of those that are suggested, in the order of `secrets`
 */
export function readCurl(text: string, names: readonly (string | undefined)[] = []): CurlCall | { fault: string } {
  if (text.length > MOST) return { fault: `The command has more than ${MOST.toLocaleString("en")} characters.` };
  const parsed = wordsOf(text.trim().replace(/^\$\s+/, ""));
  if ("fault" in parsed) return parsed;
  if (!/^curl(?:\.exe)?$/i.test(parsed.words[0] ?? "")) return { fault: "Paste a command that begins with curl." };
  const said = optionsOf(parsed.words);
  const { notes } = said;
  if (parsed.rest !== "") notes.add(`Left out what follows the command: ${parsed.rest.split("\n", 1)[0]?.slice(0, 80)}`);
  if (said.urls.length > 1) notes.add(`Only the first of ${said.urls.length} addresses was taken.`);
  const [written] = said.urls;
  if (!written) return { fault: "The command has no address." };

  // As curl does, where the scheme is left out.
  const [address = ""] = (/^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`).split("#");
  const [, scheme = "", person, place = ""] = /^([^:]+:\/\/)(?:([^/?@]*)@)?([\s\S]*)$/.exec(address) ?? [];
  if (person !== undefined) said.user ??= decoded(person);
  const [bare = "", ...asked] = place.split("?");
  const search = [...(asked.length ? [asked.join("?")] : []), ...said.query, ...(said.isGet ? said.data : [])].join("&");
  const rows = rowsOf(search);
  const url = `${scheme}${bare}${rows || search === "" ? "" : `?${search}`}`;

  const secrets = new Secrets(url, names);
  const auth = authOf(said, secrets);
  const body = bodyOf(said, secrets);
  if (said.isJson && !said.headers.some(({ name }) => name.toLowerCase() === "accept"))
    body.headers.push({ name: "Accept", value: "application/json" });
  const shellWord = /\$\(|\$\{?[A-Za-z_]/.exec(
    [url, body.body]
      .flat()
      .map((one) => (typeof one === "string" ? one : one.value))
      .join(" "),
  );
  if (shellWord)
    notes.add("The shell puts values in place of $… before curl sees them. Write the values, or expressions, where they stand.");
  const config: CurlCall["config"] = {
    method: methodOf(said),
    url,
    query: (rows ?? []).map((row) => secrets.row(row)),
    headers: body.headers.filter(({ name }) => !name.startsWith(":") && !isServiceHeader(name)).map((row) => secrets.row(row)),
    auth,
    body_type: body.body_type,
    body: body.body,
    ...(said.timeout !== undefined && { timeout: said.timeout }),
    ...(said.retries !== undefined && { retries: said.retries }),
  };
  const { error } = httpNode.config.safeParse(config);
  if (error)
    return { fault: `The command is more than an HTTP node holds. ${error.issues[0]?.path.join(".")}: ${error.issues[0]?.message}` };
  return { config, secrets: secrets.list, notes: [...notes] };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import { wordsOf } from "#components/workflow-editor/curl/shell-words.ts";
import type { NodeConfig } from "#components/workflow-editor/nodes/types.ts";
import { httpNode, isServiceHeader } from "#server/workflow/nodes/http-node.ts";

// A `curl` command as the fields of an HTTP node.

type Config = NodeConfig<"httpNode">;
type Row = { name: string; value: string };

/** Something that the command has in clear, or names as a variable, and that a workflow only has as a credential. */
export interface CurlSecret {
  /** The credential that the fields name. */
  name: string;
  /** Null where the command has only a variable. */
  value: string | null;
  /** Where in the command it stands, e.g. "Authorization". */
  what: string;
}

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

const SHORT: Record<string, string> = {
  ...{ A: "user-agent", b: "cookie", c: "cookie-jar", C: "continue-at", d: "data", D: "dump-header", e: "referer", E: "cert", F: "form" },
  ...{ G: "get", H: "header", I: "head", K: "config", k: "insecure", m: "max-time", n: "netrc", o: "output", Q: "quote", r: "range" },
  ...{ T: "upload-file", u: "user", U: "proxy-user", w: "write-out", x: "proxy", X: "request", y: "speed-time", Y: "speed-limit" },
  z: "time-cond",
};

/** Options that a value follows. */
const VALUED = new Set(
  `abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to continue-at cookie
  cookie-jar crlfile curves data data-ascii data-binary data-raw data-urlencode dns-servers doh-url dump-header engine etag-compare
  etag-save expect100-timeout form form-string header hsts interface json keepalive-time key key-type limit-rate local-port
  login-options max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max pass pinnedpubkey
  preproxy proto proto-default proto-redir proxy proxy-cacert proxy-cert proxy-header proxy-key proxy-user proxy1.0 quote range rate
  referer request request-target resolve retry retry-delay retry-max-time service-name socks4 socks4a socks5 socks5-hostname
  speed-limit speed-time stderr time-cond tls-max tls13-ciphers trace trace-ascii unix-socket upload-file url url-query user
  user-agent variable write-out`.split(/\s+/),
);

const CERTIFICATE = "A certificate of the caller's own cannot be shown to the server.";
const OTHER_LOGIN = "This way of signing in (digest, NTLM, Negotiate, AWS) is not known here.";
const PROXY = "The proxy is left out.";
const SOCKET = "A socket or an address that is looked up by hand is left out.";
/** What an HTTP node has no field for. */
const UNKNOWN: Record<string, string> = {
  ...{ insecure: "The server's certificate is checked, unlike with -k.", config: "The file of settings (-K) was not read." },
  ...{ cert: CERTIFICATE, key: CERTIFICATE, cacert: "An authority of your own (--cacert) is set for the whole service, not for a node." },
  ...{ digest: OTHER_LOGIN, ntlm: OTHER_LOGIN, negotiate: OTHER_LOGIN, anyauth: OTHER_LOGIN, "aws-sigv4": OTHER_LOGIN },
  ...{
    netrc: "The file .netrc was not read: choose the credential.",
    "netrc-file": "The file .netrc was not read: choose the credential.",
  },
  ...{
    proxy: PROXY,
    preproxy: PROXY,
    socks5: PROXY,
    "socks5-hostname": PROXY,
    "unix-socket": SOCKET,
    resolve: SOCKET,
    "connect-to": SOCKET,
  },
  range: "Only a part was asked for (-r). Add the header Range for that.",
};

const fileNote = (name: string) => `The file ${name} was not read. Write what it holds into the body.`;

/** What the options say, before it is put together. */
interface Said {
  method?: string;
  urls: string[];
  headers: Row[];
  /** What -d and its like add, joined by & in the end. */
  data: string[];
  /** Fields of a multipart form. */
  parts: Row[];
  query: string[];
  isJson: boolean;
  isHead: boolean;
  isGet: boolean;
  user?: string;
  bearer?: string;
  timeout?: number | undefined;
  retries?: number;
  notes: Set<string>;
}

const percent = (text: string) => encodeURIComponent(text).replaceAll("%20", "+");

/** `content`, `=content`, `name=content`, `@file`, `name@file`. */
function urlencoded(value: string, said: Said): string {
  const [, name = "", sign, content = ""] = /^([^=@]*)([=@])([\s\S]*)$/.exec(value) ?? [];
  if (sign === undefined) return percent(value);
  if (sign === "@") said.notes.add(fileNote(content));
  const text = sign === "@" ? "" : percent(content);
  return name === "" ? text : `${name}=${text}`;
}

function take(said: Said, option: string, value: string): void {
  const row = (name: string, text: string) => said.headers.push({ name, value: text });
  switch (option) {
    case "url":
      said.urls.push(value);
      break;
    case "request":
      said.method = value.toUpperCase();
      break;
    case "head":
      said.isHead = true;
      break;
    case "get":
      said.isGet = true;
      break;
    case "header": {
      if (value.startsWith("@")) said.notes.add(`The file of headers ${value.slice(1)} was not read.`);
      const [, name = "", sign, text = ""] = /^(:?[^:;]+)([:;])([\s\S]*)$/.exec(value) ?? [];
      // One without a value takes a header of curl's own away; with a semicolon it is sent empty.
      if (sign === ";" || (sign === ":" && text.trim() !== "")) row(name.trim(), sign === ";" ? "" : text.trim());
      break;
    }
    case "user-agent":
      row("User-Agent", value);
      break;
    case "referer":
      row("Referer", value);
      break;
    case "cookie":
      if (value.includes("=")) row("Cookie", value);
      else said.notes.add(`The file of cookies ${value} was not read.`);
      break;
    case "data-raw":
      said.data.push(value);
      break;
    case "data":
    case "data-ascii":
    case "data-binary":
    case "json":
      said.isJson ||= option === "json";
      if (value.startsWith("@")) said.notes.add(fileNote(value.slice(1)));
      said.data.push(value.startsWith("@") ? "" : value);
      break;
    case "data-urlencode":
      said.data.push(urlencoded(value, said));
      break;
    case "url-query":
      said.query.push(value.startsWith("+") ? value.slice(1) : urlencoded(value, said));
      break;
    case "form":
    case "form-string": {
      const [, name = "", text = ""] = /^([^=]*)=([\s\S]*)$/.exec(value) ?? [];
      if (option === "form" && /^[@<]/.test(text))
        said.notes.add(`The file in the form's field ${name} was left out: files cannot be sent.`);
      else said.parts.push({ name, value: text });
      break;
    }
    case "upload-file":
      said.method ??= "PUT";
      said.data.push("");
      said.notes.add(fileNote(value));
      break;
    case "user":
      said.user = value;
      break;
    case "oauth2-bearer":
      said.bearer = value;
      break;
    case "max-time":
      said.timeout = Math.min(300, Math.max(1, Math.ceil(Number(value)))) || undefined;
      break;
    case "retry":
      said.retries = Math.min(5, Math.max(0, Math.floor(Number(value)))) || 0;
      break;
    default:
      if (UNKNOWN[option] !== undefined) said.notes.add(UNKNOWN[option]);
  }
}

/** Goes through the words of a command. */
function optionsOf(words: readonly string[]): Said {
  const said: Said = {
    ...{ urls: [], headers: [], data: [], parts: [], query: [], isJson: false, isHead: false, isGet: false },
    notes: new Set(),
  };
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? "";
    const isLong = /^--[a-z]/.test(word);
    if (isLong) {
      const [option = "", ...joined] = word.slice(2).split("=");
      if (!VALUED.has(option)) take(said, option, "");
      else take(said, option, joined.length ? joined.join("=") : (words[++at] ?? ""));
    } else if (/^-[a-zA-Z#0-9:]/.test(word)) {
      // Several letters in one: what follows one that takes a value is that.
      for (let index = 1; index < word.length; index++) {
        const option = SHORT[word.charAt(index)] ?? "";
        if (!VALUED.has(option)) take(said, option, "");
        else {
          take(said, option, word.slice(index + 1) || (words[++at] ?? ""));
          break;
        }
      }
    } else if (word !== "-" && word !== "--") said.urls.push(word);
  }
  return said;
}

/** Names of headers, and of values in a query or a form, that hold secrets. */
const SECRET =
  /(?:^|[-_.])(?:(?:access|api|app|auth|bearer|csrf|private|refresh|secret|session|subscription|user|xsrf)[-_]?(?:key|token)|auth|authorization|cookie|password|passwd|pwd|secret|sig|signature)$|^(?:x-)?(?:key|token)$|-token$/i;
const VARIABLE = /^\$\{?([A-Za-z_]\w*)\}?$|^%([A-Za-z_]\w*)%$|^\{\{\s*([A-Za-z_]\w*)\s*\}\}$/;
/** What stands for a value in examples. */
const BLANK = /^<[^<>]*>$|^\[[^[\]]*\]$|^your[-_ ]/i;

/** Puts secrets where they belong, and says by which names. */
class Secrets {
  readonly list: CurlSecret[] = [];
  readonly #service: string;
  readonly #names: readonly (string | undefined)[];

  constructor(url: string, names: readonly (string | undefined)[]) {
    const [host = ""] = url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").split(/[/?#:]/);
    const labels = host
      .split(".")
      .slice(0, -1)
      .filter((label) => !/^(?:api|www|\d+)$/i.test(label));
    this.#service = labels.sort((a, b) => b.length - a.length)[0] ?? "";
    this.#names = names;
  }

  /** The name of the credential that is to hold this. */
  keep(what: string, value: string, kind: string): string {
    const variable = VARIABLE.exec(value)?.slice(1).find(Boolean);
    const plain = (text: string) =>
      text
        .toUpperCase()
        .replace(/[^A-Z0-9]+/g, "_")
        .replace(/^_+|_+$/g, "");
    const wanted = variable ?? [plain(this.#service), plain(kind)].filter(Boolean).join("_");
    // The same one may prove who asks in two places.
    const isKnown = variable === undefined && !BLANK.test(value);
    const same = this.list.find((one) => (isKnown ? one.value === value : one.value === null && one.name === wanted));
    const known = new Set(this.list.map(({ name }) => name));
    let name = this.#names[this.list.length] ?? wanted;
    for (let count = 2; known.has(name); count++) name = `${wanted}_${count}`;
    if (same) return same.name;
    this.list.push({ name, value: isKnown ? value : null, what });
    return name;
  }

  /** The row as it is, or with its secret as an expression. */
  row({ name, value }: Row): Row {
    if (value === "" || !SECRET.test(name) || value.includes("{{credentials.")) return { name, value };
    return { name, value: `{{credentials.${this.keep(name, value, name.replace(/^x[-_]/i, ""))}}}` };
  }
}

/** JSON with its secrets as expressions, which are escaped where they stand in a string. */
const withoutSecrets = (json: string, secrets: Secrets): string =>
  json.replace(/"((?:\\.|[^"\\])*)"(\s*:\s*)"((?:\\.|[^"\\])*)"/g, (whole, name: string, colon: string, value: string) => {
    const row = secrets.row({ name, value: JSON.parse(`"${value}"`) });
    return row.value.includes("{{credentials.") ? `"${name}"${colon}"${row.value}"` : whole;
  });

function authOf(said: Said, secrets: Secrets): Config["auth"] {
  const none = { kind: "none", credential: "" } as const;
  const basic = (pair: string): Config["auth"] => {
    const [username = "", ...rest] = pair.split(":");
    const password = rest.join(":");
    // Some have the key as the name of a user who has no password.
    if (rest.length > 0 && password === "") {
      const isOpen = VARIABLE.test(username) || BLANK.test(username);
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
  const key = said.headers.findIndex(({ name, value }) => value !== "" && SECRET.test(name) && name.toLowerCase() !== "cookie");
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

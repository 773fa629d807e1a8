// The options of a `curl` command: what they say, one by one.

/** A header, or a field of a query or form. */
export interface Row {
  name: string;
  value: string;
}

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
export interface Said {
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

/** Goes through the words of a command; the first is `curl` itself. */
export function optionsOf(words: readonly string[]): Said {
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

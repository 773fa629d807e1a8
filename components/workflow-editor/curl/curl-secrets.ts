import type { Row } from "#components/workflow-editor/curl/curl-options.ts";

// What of a `curl` command is a secret, and the credential that is to hold it.

/** Something that the command has in clear, or names as a variable, and that a workflow only has as a credential. */
export interface CurlSecret {
  /** The credential that the fields name. */
  name: string;
  /** Null where the command has only a variable. */
  value: string | null;
  /** Where in the command it stands, e.g. "Authorization". */
  what: string;
}

/** Names of headers, and of values in a query or a form, that hold secrets. */
const SECRET =
  /(?:^|[-_.])(?:(?:access|api|app|auth|bearer|csrf|private|refresh|secret|session|subscription|user|xsrf)[-_]?(?:key|token)|auth|authorization|cookie|password|passwd|pwd|secret|sig|signature)$|^(?:x-)?(?:key|token)$|-token$/i;
const VARIABLE = /^\$\{?([A-Za-z_]\w*)\}?$|^%([A-Za-z_]\w*)%$|^\{\{\s*([A-Za-z_]\w*)\s*\}\}$/;
/** What stands for a value in examples. */
const BLANK = /^<[^<>]*>$|^\[[^[\]]*\]$|^your[-_ ]/i;

/** Whether the name of a header or a field says that its value is a secret. */
export const isSecretName = (name: string): boolean => SECRET.test(name);

/** Whether a value is only a variable of the shell, or stands for one as in examples: the secret itself is not there. */
export const isPlaceholder = (value: string): boolean => VARIABLE.test(value) || BLANK.test(value);

/** Puts secrets where they belong, and says by which names. */
export class Secrets {
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
        .replace(/^_|_$/g, "");
    const wanted = variable ?? [plain(this.#service), plain(kind)].filter(Boolean).join("_");
    // The same one may prove who asks in two places.
    const isKnown = !isPlaceholder(value);
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
    if (value === "" || !isSecretName(name) || value.includes("{{credentials.")) return { name, value };
    return { name, value: `{{credentials.${this.keep(name, value, name.replace(/^x[-_]/i, ""))}}}` };
  }
}

/** JSON with its secrets as expressions, which are escaped where they stand in a string. */
export const withoutSecrets = (json: string, secrets: Secrets): string =>
  json.replace(/(?<!\\)"((?:\\.|[^"\\])*)"(\s*:\s*)"((?:\\.|[^"\\])*)"/g, (whole, name: string, colon: string, value: string) => {
    const row = secrets.row({ name, value: JSON.parse(`"${value}"`) });
    return row.value.includes("{{credentials.") ? `"${name}"${colon}"${row.value}"` : whole;
  });

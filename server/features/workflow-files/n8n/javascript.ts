import { CREDENTIALS, type PathPart } from "#server/workflow/expressions.ts";

// Reads what the expressions of n8n, which are JavaScript, have in common with ours: reading a value, shaping it as a filter does,
// putting texts together. Anything else is left to a person.

/** What a name of n8n stands for here: `{{head.field.path}}`. */
export interface Reading {
  head: string;
  field: string;
  path: readonly PathPart[];
}

/** Where something is read: what came to a node, what a node of this name gave, or something that the whole run has. */
export type Place =
  | { of: "input" }
  | { of: "node"; name: string }
  | { of: "run" }
  | { of: "resume" }
  | { of: "index" }
  | { of: "secret"; name: string };

/** What is to be read in place of a place and a path; undefined where nothing here holds that. */
export type Find = (place: Place, path: readonly PathPart[]) => Reading | undefined;

export type Literal = string | number | boolean | null;
/** An expression that means the same here. */
export type Expression =
  | { kind: "literal"; value: Literal }
  | { kind: "read"; reading: Reading }
  | { kind: "filter"; value: Expression; name: string; args: readonly Literal[] }
  | { kind: "sum"; parts: readonly Expression[] }
  | { kind: "object"; entries: readonly (readonly [string, Expression])[] }
  | { kind: "list"; items: readonly Expression[] };

/** Longer ones are programs. */
const MOST_CHARACTERS = 4000;
const MOST_DEPTH = 40;

/** Thrown for what only JavaScript can say: one for all, since a file may hold very many of it. */
export const UNCONVERTED = new Error("Only JavaScript can say this.");
export const unconverted = (): never => {
  throw UNCONVERTED;
};

const TOKEN_KINDS = ["name", "number", "text", "template", "sign"] as const;
/** One group for each kind. */
const TOKEN =
  /\s*(?:([\p{L}_$][\p{L}\p{N}_$]*)|(\d+(?:\.\d+)?)|("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')|(`(?:[^`\\]|\\[\s\S])*`)|(\?\.(?!\d)|\?\?|\|\||[.()[\]{},:+-]))/uy;

interface Token {
  kind: (typeof TOKEN_KINDS)[number];
  text: string;
}

function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  const end = code.trimEnd().length;
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < end; ) {
    const [, ...groups] = TOKEN.exec(code) ?? unconverted();
    const index = groups.findIndex((group) => group !== undefined);
    tokens.push({ kind: TOKEN_KINDS[index] ?? unconverted(), text: groups[index] ?? "" });
  }
  return tokens;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

/** A literal without its quotes. Escapes by number are left to a person. */
function plainText(quoted: string): string {
  const inner = quoted.slice(1, -1);
  if (/\\[xu0-7]/.test(inner)) unconverted();
  return inner.replace(/\\([\s\S])/g, (_, sign: string) => ESCAPES[sign] ?? sign);
}

/** The signs of Luxon's formats that Python's strftime has too. */
const DATE_SIGNS: Readonly<Record<string, string>> = {
  yyyy: "%Y",
  ...{ yy: "%y", MM: "%m", dd: "%d", HH: "%H", hh: "%I", mm: "%M", ss: "%S", a: "%p" },
  ...{ cccc: "%A", EEEE: "%A", ccc: "%a", EEE: "%a", LLLL: "%B", MMMM: "%B", LLL: "%b", MMM: "%b" },
};
const dateFormat = (luxon: string): string =>
  luxon.replace(/[A-Za-z]+|%/g, (sign) => (Object.hasOwn(DATE_SIGNS, sign) ? (DATE_SIGNS[sign] as string) : unconverted()));

interface Method {
  name: string;
  args?(given: readonly Literal[]): readonly Literal[];
}
const keeps = (count: number) => (given: readonly Literal[]) => (given.length <= count ? given : unconverted());
const none = { args: keeps(0) };
const formats = { name: "date", args: ([format]: readonly Literal[]) => [typeof format === "string" ? dateFormat(format) : unconverted()] };
const cuts = { name: "slice", args: keeps(2) };
/** Methods that a filter stands for. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["toUpperCase", { name: "upper", ...none }],
  ["toLowerCase", { name: "lower", ...none }],
  ["trim", { name: "trim", ...none }],
  ["first", { name: "first", ...none }],
  ["last", { name: "last", ...none }],
  ["keys", { name: "keys", ...none }],
  ["toJsonString", { name: "json", ...none }],
  ["join", { name: "join", args: (given) => (given.length ? keeps(1)(given) : [","]) }],
  ["split", { name: "split", args: (given) => (given.length ? keeps(1)(given) : unconverted()) }],
  ["replaceAll", { name: "replace", args: (given) => (given.length === 2 ? given : unconverted()) }],
  ["slice", cuts],
  ["round", { name: "round", args: keeps(1) }],
  ["toFormat", formats],
  ["format", formats],
]);
/** Functions around a value that a filter stands for, or nothing at all where text is text anyway. */
const FUNCTIONS: ReadonlyMap<string, string | null> = new Map([
  ["JSON.stringify", "json"],
  ["Object.keys", "keys"],
  ["Math.round", "round"],
  ["String", null],
  ["Number", null],
  ["DateTime.fromISO", null],
]);

/** Reads one expression. Throws UNCONVERTED for what it cannot say here. */
class Parser {
  readonly #tokens: Token[];
  readonly #find: Find;
  #at = 0;
  #depth: number;

  constructor(code: string, find: Find, depth = 0) {
    this.#tokens = tokensOf(code);
    this.#find = find;
    this.#depth = depth;
  }

  whole(): Expression {
    const expression = this.#either();
    return this.#at === this.#tokens.length ? expression : unconverted();
  }

  #is(text: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.text === text && (token.kind === "sign" || token.kind === "name");
  }
  #take(text: string): boolean {
    const isThere = this.#is(text);
    if (isThere) this.#at += 1;
    return isThere;
  }
  #expect(text: string): void {
    if (!this.#take(text)) unconverted();
  }
  #next(kind: Token["kind"]): string {
    const token = this.#tokens[this.#at++];
    return token?.kind === kind ? token.text : unconverted();
  }

  /** `a || "none"` and `a ?? "none"`. */
  #either(): Expression {
    if (++this.#depth > MOST_DEPTH) unconverted();
    let value = this.#sum();
    while (this.#take("||") || this.#take("??")) {
      const other = this.#sum();
      // A credential is one text: nothing can be said of what it is not.
      if (value.kind === "read" && value.reading.head === CREDENTIALS) continue;
      if (other.kind !== "literal" || (value.kind !== "read" && value.kind !== "filter")) return unconverted();
      value = { kind: "filter", value, name: "default", args: [other.value] };
    }
    this.#depth -= 1;
    return value;
  }

  /** Texts that are put together; a sum of numbers is no text. */
  #sum(): Expression {
    const parts = [this.#one()];
    while (this.#take("+")) parts.push(this.#one());
    const [only] = parts;
    if (parts.length === 1 && only) return only;
    const isText = parts.some((part) => part.kind === "sum" || (part.kind === "literal" && typeof part.value === "string"));
    return isText ? { kind: "sum", parts } : unconverted();
  }

  #one(): Expression {
    const token = this.#tokens[this.#at];
    if (token?.kind === "number") return { kind: "literal", value: Number(this.#next("number")) };
    if (token?.kind === "text") return this.#tail({ kind: "literal", value: plainText(this.#next("text")) });
    if (token?.kind === "template") return this.#template(this.#next("template"));
    if (this.#take("-")) return { kind: "literal", value: -Number(this.#next("number")) };
    if (this.#take("(")) {
      const inner = this.#either();
      this.#expect(")");
      return this.#tail(inner);
    }
    if (this.#take("{")) return this.#object();
    if (this.#take("[")) return this.#list();
    return this.#named(this.#next("name"));
  }

  #template(quoted: string): Expression {
    const parts: Expression[] = quoted
      .slice(1, -1)
      .split(/(\$\{[^{}]*\})/)
      .filter((piece) => piece !== "")
      .map((piece) =>
        /^\$\{[\s\S]*\}$/.test(piece)
          ? new Parser(piece.slice(2, -1), this.#find, this.#depth + 1).whole()
          : { kind: "literal", value: plainText(`\`${piece}\``) },
      );
    return { kind: "sum", parts };
  }

  #object(): Expression {
    const entries: [string, Expression][] = [];
    while (!this.#take("}")) {
      if (entries.length) this.#expect(",");
      if (this.#take("}")) break;
      const token = this.#tokens[this.#at++];
      const key = token?.kind === "name" ? token.text : token?.kind === "text" ? plainText(token.text) : unconverted();
      this.#expect(":");
      entries.push([key, this.#either()]);
    }
    return { kind: "object", entries };
  }

  #list(): Expression {
    const items: Expression[] = [];
    while (!this.#take("]")) {
      if (items.length) this.#expect(",");
      if (this.#take("]")) break;
      items.push(this.#either());
    }
    return { kind: "list", items };
  }

  #named(name: string): Expression {
    if (name === "true" || name === "false") return { kind: "literal", value: name === "true" };
    if (name === "null" || name === "undefined") return { kind: "literal", value: null };
    if (name.startsWith("$")) return this.#tail(this.#read(this.#placeOf(name)));
    const full = this.#take(".") ? `${name}.${this.#next("name")}` : name;
    const filter = FUNCTIONS.get(full);
    if (filter === undefined || !this.#take("(")) return unconverted();
    const value = this.#either();
    // JSON.stringify(value, null, 2) only writes it wider.
    while (filter === "json" && this.#take(",")) this.#either();
    this.#expect(")");
    if (filter === null || value.kind === "object" || value.kind === "list") return this.#tail(value);
    return this.#tail({ kind: "filter", value, name: filter, args: [] });
  }

  /** What a `$` name stands for. */
  #placeOf(name: string): Place {
    const member = () => {
      this.#expect(".");
      return this.#next("name");
    };
    switch (name) {
      case "$json":
        return { of: "input" };
      case "$input":
        this.#oneItem();
        return { of: "input" };
      case "$": {
        this.#expect("(");
        const of = plainText(this.#next("text"));
        this.#expect(")");
        this.#oneItem();
        return { of: "node", name: of };
      }
      case "$item":
        this.#arguments();
        this.#expect(".");
        return this.#placeOf(this.#next("name"));
      case "$node": {
        const of = this.#take("[") ? plainText(this.#next("text")) : member();
        this.#take("]");
        this.#json();
        return { of: "node", name: of };
      }
      case "$items": {
        const [of] = this.#arguments();
        this.#expect("[");
        this.#next("number");
        this.#expect("]");
        this.#json();
        return typeof of === "string" ? { of: "node", name: of } : { of: "input" };
      }
      case "$env":
      case "$vars":
        return { of: "secret", name: this.#take("[") ? this.#bracket() : member() };
      case "$execution": {
        const what = member();
        if (what === "resumeUrl") return { of: "resume" };
        return what === "id" ? { of: "run" } : unconverted();
      }
      case "$itemIndex":
        return { of: "index" };
      default:
        return unconverted();
    }
  }

  #bracket(): string {
    const text = plainText(this.#next("text"));
    this.#expect("]");
    return text;
  }
  #json(): void {
    this.#expect(".");
    this.#expect("json");
  }
  /** `.item.json`, `.first().json`, `.last().json`, `.all()[0].json`: a node here gives one value. */
  #oneItem(): void {
    this.#expect(".");
    const which = this.#next("name");
    if (which !== "item") this.#arguments();
    if (!["item", "first", "last", "all", "itemMatching"].includes(which)) unconverted();
    if (which === "all") {
      this.#expect("[");
      this.#next("number");
      this.#expect("]");
    }
    this.#json();
  }
  #arguments(): Literal[] {
    this.#expect("(");
    const found: Literal[] = [];
    while (!this.#take(")")) {
      if (found.length) this.#expect(",");
      const value = this.#either();
      found.push(value.kind === "literal" ? value.value : unconverted());
    }
    return found;
  }

  #read(place: Place): Expression {
    const path: PathPart[] = [];
    for (;;) {
      const before = this.#at;
      if (this.#take(".") || this.#take("?.")) {
        if (this.#take("[")) path.push(this.#part());
        else {
          const name = this.#next("name");
          // A method, or a length: what has been read so far is what it is asked of.
          if (this.#is("(") || name === "length") {
            this.#at = before;
            break;
          }
          path.push(name);
        }
      } else if (this.#take("[")) path.push(this.#part());
      else break;
    }
    const reading = this.#find(place, path);
    return reading ? { kind: "read", reading } : unconverted();
  }

  #part(): PathPart {
    const token = this.#tokens[this.#at++];
    const part = token?.kind === "number" ? Number(token.text) : token?.kind === "text" ? plainText(token.text) : unconverted();
    this.#expect("]");
    return part;
  }

  /** What is done with a value: methods that are filters here. */
  #tail(start: Expression): Expression {
    let value = start;
    while (this.#take(".") || this.#take("?.")) {
      const name = this.#next("name");
      if (name === "length" && !this.#is("(")) {
        value = { kind: "filter", value, name: "length", args: [] };
        continue;
      }
      const given = this.#arguments();
      if (name === "toString" || name === "toDateTime") continue;
      const method = METHODS.get(name) ?? unconverted();
      value = { kind: "filter", value, name: method.name, args: method.args?.(given) ?? given };
    }
    return value;
  }
}

/** @throws UNCONVERTED for what cannot be said here */
export const parse = (code: string, find: Find): Expression =>
  code.length > MOST_CHARACTERS ? unconverted() : new Parser(code, find).whole();

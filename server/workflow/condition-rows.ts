import { pythonString, unescaped } from "#server/workflow/python-string.ts";

// Conditions as rows of value, operator, value, for people who do not write Python. What is stored is always the Python text:
// one table of templates writes it, and reads it back where it has that form. Pure and browser-safe.

/** What a row compares with: a text as it was typed, or Python that reads another value. Null while nothing is filled in. */
export type Operand = { text: string } | { value: string } | null;

export interface ConditionRow {
  /** Python that reads a value: `output`, `node_outputs["Scout"]`, `json.loads(trigger_output)["score"]`. */
  value: string;
  operator: Operator;
  /** Always null for an operator that takes none. */
  operand: Operand;
  /** Whether capital and small letters count as the same; only where the operator tells them apart. */
  ignoresCase: boolean;
}

export interface ConditionRows {
  /** Whether all rows must hold, or any of them; of a single row always "all". */
  match: "all" | "any";
  rows: ConditionRow[];
}

/** What kind of operand an operator takes. */
export type OperandKind = "text" | "number" | "day" | null;

interface OperatorDefinition {
  title: string;
  takes: OperandKind;
  /**
   * The Python, with `$text` for the value as a text, `$raw` as it is, `$list` as a list, `$day` as the day that it begins with,
   * `$maybe` for a part of JSON that may be missing, and `$operand` for what it is compared with.
   */
  python: string;
  /** The same where capital and small letters count alike. */
  folded?: string;
  /** The same where the value is a part of JSON. */
  ofPart?: string;
}

const number = (title: string, sign: string): OperatorDefinition => ({
  ...{ title, takes: "number" },
  python: `float($raw) ${sign} $operand`,
});
const list = (title: string, sign: string): OperatorDefinition => ({
  ...{ title, takes: "number" },
  python: `len($list) ${sign} $operand`,
});
const day = (title: string, sign: string): OperatorDefinition => ({
  ...{ title, takes: "day" },
  python: `$day ${sign} $operand`,
});
const words = (title: string, python: string, folded: string): OperatorDefinition => ({
  ...{ title, takes: "text", python, folded },
});

const definitions = {
  contains: words("contains", "$operand in $text", "$operand in $text.lower()"),
  contains_not: words("does not contain", "$operand not in $text", "$operand not in $text.lower()"),
  is: words("is", "$text == $operand", "$text.lower() == $operand"),
  is_not: words("is not", "$text != $operand", "$text.lower() != $operand"),
  starts: words("starts with", "$text.startswith($operand)", "$text.lower().startswith($operand)"),
  ends: words("ends with", "$text.endswith($operand)", "$text.lower().endswith($operand)"),
  matches: words("matches the pattern", "re.search($operand, $text)", "re.search($operand, $text, re.IGNORECASE)"),
  empty: { title: "is empty", takes: null, python: '$text.strip() == ""', ofPart: '$maybe in (None, "", [], {})' },
  not_empty: {
    title: "is not empty",
    takes: null,
    python: '$text.strip() != ""',
    ofPart: '$maybe not in (None, "", [], {})',
  },
  equals: number("=", "=="),
  equals_not: number("≠", "!="),
  greater: number(">", ">"),
  at_least: number("≥", ">="),
  less: number("<", "<"),
  at_most: number("≤", "<="),
  has: words("has the item", "$operand in [str(item) for item in $list]", "$operand in [str(item).lower() for item in $list]"),
  has_not: words(
    "has not the item",
    "$operand not in [str(item) for item in $list]",
    "$operand not in [str(item).lower() for item in $list]",
  ),
  length: list("has this many items:", "=="),
  longer: list("has more items than", ">"),
  shorter: list("has fewer items than", "<"),
  before: day("is before", "<"),
  on: day("is on", "=="),
  after: day("is after", ">"),
} satisfies Record<string, OperatorDefinition>;

export type Operator = keyof typeof definitions;

/** Everything that a row can say of a value. */
export const OPERATORS: Readonly<Record<Operator, OperatorDefinition>> = definitions;

/** True for an operator that can take capital and small letters for the same. */
export const canIgnoreCase = (operator: Operator): boolean => OPERATORS[operator].folded !== undefined;

/** Stands in the Python for what is not filled in yet; a problem until it is. */
const MISSING = "...";

/** What a date is read by, as it stands in the Python. */
export const DAY_PATTERN = String.raw`r"\s*(\d{4}-\d\d-\d\d)"`;
const dayOf = (textCode: string) => `re.match(${DAY_PATTERN}, ${textCode})[1]`;
const LAST_KEY = /\[("(?:[^"\\]|\\.)*")\]$/;

const isPart = (value: string) => value.startsWith("json.loads(");
const asTextCode = (value: string) => (isPart(value) ? `str(${value})` : value);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

function operandCode({ operator, operand, ignoresCase }: ConditionRow): string {
  if (operand === null || ("text" in operand && operand.text === "")) return MISSING;
  const { takes } = OPERATORS[operator];
  const lower = ignoresCase && operator !== "matches" ? ".lower()" : "";
  if ("value" in operand) {
    if (takes === "number") return `float(${operand.value})`;
    return takes === "day" ? dayOf(asTextCode(operand.value)) : asTextCode(operand.value) + lower;
  }
  const literal = pythonString(operand.text);
  if (takes === "number") return NUMBER.test(operand.text) ? operand.text : `float(${literal})`;
  return takes === "text" && operand.text !== operand.text.toLowerCase() ? literal + lower : literal;
}

function rowCode(row: ConditionRow): string {
  const { value, operator, ignoresCase } = row;
  const { python, folded, ofPart } = OPERATORS[operator];
  const template = (ignoresCase ? folded : isPart(value) ? ofPart : undefined) ?? python;
  const fills: Record<string, () => string> = {
    text: () => asTextCode(value),
    raw: () => value,
    list: () => (isPart(value) ? value : `json.loads(${value})`),
    day: () => dayOf(asTextCode(value)),
    maybe: () => value.replace(LAST_KEY, ".get($1)"),
    operand: () => operandCode(row),
  };
  return template.replace(/\$(\w+)/g, (_, name: string) => fills[name]?.() ?? "");
}

/** The Python that says what the rows say; empty without rows. */
export const writeConditionRows = ({ match, rows }: ConditionRows): string => rows.map(rowCode).join(match === "any" ? "\nor " : "\nand ");

// Reading: the templates as regular expressions, with white space where Python does not mind it.

/** `\0`, `\N{…}` and line ends in a literal are left to those who write Python. */
const STRING = String.raw`(?:"(?:[^"\\\n]|\\[^0-7N\n])*"|'(?:[^'\\\n]|\\[^0-7N\n])*')`;
const WHOLE = String.raw`(?:output|trigger_output|node_outputs\[${STRING}\])`;
const STEP = String.raw`\[(?:${STRING}|\d{1,9})\]`;
const PART = String.raw`json\.loads\(${WHOLE}\)(?:${STEP})+`;
const VALUE = `(?:${WHOLE}|${PART})`;
const TEXT_CODE = String.raw`(?:${WHOLE}|str\(${PART}\))`;
const escaped = (code: string) => code.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const DAY_OF = (inner: string) => String.raw`re\.match\(${escaped(DAY_PATTERN)},\s*${inner}\)\[1\]`;

const VALUE_SOURCES: Readonly<Record<string, string>> = {
  text: `(?<text>${TEXT_CODE})`,
  raw: `(?<raw>${VALUE})`,
  list: String.raw`(?<list>json\.loads\(${WHOLE}\)(?:${STEP})*)`,
  day: DAY_OF(`(?<day>${TEXT_CODE})`),
  maybe: String.raw`(?<maybe>${PART}|json\.loads\(${WHOLE}\)(?:${STEP})*\.get\(${STRING}\))`,
};
const OPERAND_SOURCES: Readonly<Record<NonNullable<OperandKind>, string>> = {
  text: String.raw`(?<literal>${STRING})(?<folds>\.lower\(\))?|(?<textValue>${TEXT_CODE})(?<foldsValue>\.lower\(\))?`,
  number: String.raw`(?<number>-?\d+(?:\.\d+)?)(?![\w.])|float\((?:(?<literal>${STRING})|(?<rawValue>${VALUE}))\)`,
  day: `(?<literal>${STRING})|${DAY_OF(`(?<textValue>${TEXT_CODE})`)}`,
};

function matcherOf(template: string, takes: OperandKind): RegExp {
  const source = template
    .split(/(\$\w+| )/)
    .map((piece, index, pieces) => {
      if (piece === " ")
        return /\w$/.test(pieces[index - 1] ?? "") && /^\w/.test(pieces[index + 1] ?? "") ? String.raw`\s+` : String.raw`\s*`;
      if (piece === "$operand") return String.raw`(?:(?<missing>\.\.\.)|${takes === null ? "" : OPERAND_SOURCES[takes]})`;
      return piece.startsWith("$") ? (VALUE_SOURCES[piece.slice(1)] ?? "") : escaped(piece);
    })
    .join("");
  return new RegExp(`${source}(?=\\s*$|\\s+(?:and|or)\\s)`, "uy");
}

interface Matcher {
  operator: Operator;
  ignoresCase: boolean;
  pattern: RegExp;
}

let matchers: readonly Matcher[] | undefined;

/** Made with the first condition that is read: most of what loads this only writes, or has none. */
const allMatchers = (): readonly Matcher[] =>
  // cast: its keys are the operators
  (matchers ??= (Object.keys(OPERATORS) as Operator[]).flatMap((operator) => {
    const { python, folded, ofPart, takes } = OPERATORS[operator];
    const forms = [python, folded, ofPart].flatMap((template) =>
      template === undefined ? [] : [{ template, ignoresCase: template === folded }],
    );
    return forms.map(({ template, ignoresCase }) => ({ operator, ignoresCase, pattern: matcherOf(template, takes) }));
  }));

const literalText = (literal: string) => unescaped(literal.slice(1, -1));
// No text begins with an escaped quote: begun there, reading on would take the square of the length.
const LITERALS = new RegExp(String.raw`(?<!\\)${STRING}`, "gu");
/** Python that reads a value, with its texts written as a row writes them. */
const tidy = (code: string) => code.replace(LITERALS, (literal) => pythonString(literalText(literal)));
const withoutStr = (code: string) => (code.startsWith("str(") ? code.slice(4, -1) : code);

/** The value that a row is about; undefined when it was written for another kind of value. */
function valueIn({ text: textCode, raw, list: listCode, day: dayCode, maybe }: Record<string, string | undefined>): string | undefined {
  if (listCode !== undefined) return /\]$/.test(listCode) ? listCode : listCode.slice("json.loads(".length, -1);
  if (maybe !== undefined) return maybe.replace(new RegExp(String.raw`(?<!\\)\.get\((${STRING})\)$`, "u"), "[$1]");
  const code = textCode ?? dayCode ?? raw;
  return code === undefined ? undefined : withoutStr(code);
}

function operandIn(groups: Record<string, string | undefined>): Operand {
  const { literal, number: digits, textValue, rawValue } = groups;
  if (digits !== undefined) return { text: digits };
  if (literal !== undefined) return { text: literalText(literal) };
  const value = textValue ?? rawValue;
  return value === undefined ? null : { value: tidy(withoutStr(value)) };
}

/** Whether an operand is lowered just as the value is: a comparison of "Yes" with small letters never holds, and no row says that. */
function isFoldedRight(operator: Operator, ignoresCase: boolean, groups: Record<string, string | undefined>): boolean {
  if (OPERATORS[operator].takes !== "text" || groups.missing !== undefined) return true;
  const folds = groups.folds !== undefined || groups.foldsValue !== undefined;
  if (!ignoresCase || operator === "matches") return !folds;
  const letters = groups.literal === undefined ? undefined : literalText(groups.literal);
  return folds || (letters !== undefined && letters === letters.toLowerCase());
}

function rowAt(condition: string, at: number): { row: ConditionRow; end: number } | null {
  for (const { operator, ignoresCase, pattern } of allMatchers()) {
    pattern.lastIndex = at;
    const groups = pattern.exec(condition)?.groups;
    if (!groups) continue;
    const value = valueIn(groups);
    const operand = operandIn(groups);
    if (value === undefined || (operand !== null && "text" in operand && operand.text === "")) continue;
    if (isFoldedRight(operator, ignoresCase, groups))
      return { row: { value: tidy(value), operator, operand, ignoresCase }, end: pattern.lastIndex };
  }
  return null;
}

/**
 * The rows that a condition was written from, or could have been; null for one that says something else. No rows for an empty one.
 * Writing them again gives a condition that means the same.
 */
export function readConditionRows(condition: string): ConditionRows | null {
  const rows: ConditionRow[] = [];
  const joins = new Set<string>();
  let at = condition.length - condition.trimStart().length;
  while (at < condition.length) {
    const found = rowAt(condition, at);
    if (!found) return null;
    rows.push(found.row);
    const join = /\s+(and|or)\s+|\s*$/uy;
    join.lastIndex = found.end;
    const [whole = "", word] = join.exec(condition) ?? [];
    if (word !== undefined) joins.add(word);
    at = found.end + whole.length;
    if (word !== undefined && at >= condition.length) return null;
  }
  return joins.size > 1 ? null : { match: joins.has("or") ? "any" : "all", rows };
}

const isValue = new RegExp(`^${VALUE}$`, "u");

/** True for Python that reads a value as a row can: an output, or a part of one that is JSON. */
export const isRowValue = (code: string): boolean => isValue.test(code);

/** What is not filled in, or cannot be what its operator takes, as sentences; nothing of a condition that is no rows. */
export function conditionRowProblems(condition: string): string[] {
  const { rows } = readConditionRows(condition) ?? { rows: [] };
  return rows.flatMap(({ operator, operand }, index) => {
    const { takes, title } = OPERATORS[operator];
    const where = rows.length > 1 ? `Row ${index + 1}: ` : "";
    if (takes === null) return [];
    if (operand === null) return [`${where}Say what follows “${title}”.`];
    if ("value" in operand) return [];
    if (takes === "number" && !NUMBER.test(operand.text)) return [`${where}“${operand.text}” is not a number. Write it like 12 or 0.5.`];
    return takes === "day" && !DAY.test(operand.text) ? [`${where}“${operand.text}” is not a date. Write it like 2026-01-31.`] : [];
  });
}

/** How a value is called where people read it: `Scout.output.items[0]` for `json.loads(node_outputs["Scout"])["items"][0]`. */
export function valueName(code: string): string {
  const [, whole = "", steps = ""] = new RegExp(`^(?:json\\.loads\\()?(${WHOLE})\\)?((?:${STEP})*)$`, "u").exec(code) ?? [];
  const name = whole.startsWith("node") ? `${literalText(whole.slice("node_outputs[".length, -1))}.output` : whole.replace("_", ".");
  const path = steps.replace(new RegExp(String.raw`(?<!\\)\[(${STRING})\]`, "gu"), (_, key: string) => `.${literalText(key)}`);
  return whole === "" ? code : name + path;
}

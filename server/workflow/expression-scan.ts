// Finds {{expressions}} in a text. The one scanner of runs, checks, renames and the editor. Pure and browser-safe.

/** One `{{…}}` of a template. `source` is the text with its braces, `start` and `end` are its offsets. */
export interface FoundExpression {
  source: string;
  start: number;
  end: number;
  /** True after an odd number of backslashes: the last of them is dropped, and the braces are literal. */
  isEscaped: boolean;
}

const BRACE_OR_QUOTE = /[{}"']/g;
const BRACE = /[{}]/g;
const QUOTED = { '"': /"(?:[^"\\]|\\[\s\S])*"(?=\s*[,)\]])/y, "'": /'(?:[^'\\]|\\[\s\S])*'(?=\s*[,)\]])/y };

/** Returns true where an argument or a step of a path may begin: behind a bracket or a comma. */
function isArgumentAt(template: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && /\s/.test(template.charAt(before))) before--;
  return "([,".includes(template.charAt(before)) && before >= 0;
}

/**
 * Returns the first brace from `from` on that is not inside a quoted argument, or the length of the text.
 * @param isQuoting false: quotes mean nothing
 */
function nextBrace(template: string, from: number, isQuoting: boolean): number {
  const sign = isQuoting ? BRACE_OR_QUOTE : BRACE;
  sign.lastIndex = from;
  for (let match = sign.exec(template); match; match = sign.exec(template)) {
    const [found] = match;
    if (found !== '"' && found !== "'") return match.index;
    const quoted = QUOTED[found];
    quoted.lastIndex = match.index;
    if (isArgumentAt(template, match.index) && quoted.test(template)) sign.lastIndex = quoted.lastIndex;
  }
  return template.length;
}

/** Returns true behind an odd number of backslashes. */
export function isEscapedAt(template: string, start: number): boolean {
  let backslashes = 0;
  while (template[start - backslashes - 1] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

function* expressionsBetween(
  template: string,
  from: number,
  to: number,
  isQuoting: boolean,
): Generator<FoundExpression, number | undefined> {
  let start = template.indexOf("{{", from);
  let open: number | undefined;
  while (start !== -1 && start < to) {
    const brace = nextBrace(template, start + 2, isQuoting);
    const isClosed = brace < to && template.startsWith("}}", brace);
    if (isClosed) {
      const end = brace + 2;
      yield { source: template.slice(start, end), start, end, isEscaped: isEscapedAt(template, start) };
    } else if (isQuoting) yield* expressionsBetween(template, start, brace, false);
    open = brace === template.length ? start : undefined;
    const after = isClosed ? brace + 2 : Math.max(start + 1, brace - 1);
    start = template.indexOf("{{", after);
  }
  return open;
}

/**
 * Reads the expressions of a template one at a time, in time linear in its length. Braces inside a quoted argument or a quoted step
 * of a path belong to it; elsewhere a brace ends what cannot be an expression.
 */
export const eachExpression = (template: string): Generator<FoundExpression, number | undefined> =>
  expressionsBetween(template, 0, template.length, true);

/** Returns where an expression begins that the end of the text leaves open, or undefined. */
export function openExpressionAt(text: string): number | undefined {
  const expressions = eachExpression(text);
  let step = expressions.next();
  while (!step.done) step = expressions.next();
  return step.value === undefined || isEscapedAt(text, step.value) ? undefined : step.value;
}

/** Returns true for a text with an expression in it, escaped or not. */
export const hasExpression = (text: string): boolean => eachExpression(text).next().done !== true;

/** Returns the text without its expressions; escaped ones stay. */
export function withoutExpressions(template: string): string {
  let text = "";
  let last = 0;
  for (const { start, end, isEscaped } of eachExpression(template)) {
    if (isEscaped) continue;
    text += template.slice(last, start);
    last = end;
  }
  return text + template.slice(last);
}

/** Writes a text in double quotes, as an argument or a step of a path reads it. */
export const quoteText = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

// The sandbox looks at its limits between steps of Python. What happens inside of one step it cannot stop: a regular
// expression that goes over a long text again and again, or one power of large numbers. Judged by the text alone, and
// rather too often than too seldom: what counts as risky still runs, only in a process that can be killed.

const STRING = /(?<![\w"'])(?:[rRbB]{0,2})(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/g;
/** One match from a pattern that stands there: linear, when it neither looks around nor back. */
const PLAIN_MATCH = /\bre\.(?:search|match|fullmatch)\(\s*([rR]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))\s*,/g;
const LOOKS_AROUND = /\(\?(?:[=!>(]|<[=!]|P=)|\\[1-9]/;

/** Names that the sandbox has without a bound on the memory they take, and what leads to them by another way. */
const UNBOUNDED = /\b(?:expandtabs|getattr)\b/;

/** The condition without its texts; f-strings stay, for they hold expressions. */
const bare = (condition: string): string => condition.replace(STRING, '""');

/** A name that no condition may use, or undefined. */
export const unboundedName = (condition: string): string | undefined => UNBOUNDED.exec(bare(condition))?.[0];

/** Whether one step of the condition could take long. */
export function isRisky(condition: string): boolean {
  const rest = bare(condition.replace(PLAIN_MATCH, (whole, pattern: string) => (LOOKS_AROUND.test(pattern) ? whole : "(")));
  return /\bre\b|\*\*|<<|\bpow\b/.test(rest);
}

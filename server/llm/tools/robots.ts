// robots.txt as RFC 9309 has it.

/** Longest file that is read, in bytes; a crawler must read 500 KiB at least. */
export const MAX_ROBOTS_BYTES = 512 * 1024;
const MAX_RULES = 10_000;

interface Rule {
  allows: boolean;
  pattern: string;
}

/** What a robots.txt says to one crawler. */
export interface Robots {
  /** @param path path and query, as in the request */
  allows(path: string): boolean;
}

/** Percent-encoded where it need not be, and the other way round: both sides are compared in one spelling. */
function normal(text: string): string {
  const encoded = text.replace(/[^\x21-\x7e]/gu, (letter) => encodeURIComponent(letter.toWellFormed()));
  return encoded.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const letter = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(letter) ? letter : whole.toUpperCase();
  });
}

/** True when the path starts as the pattern says; `*` stands for anything, a `$` at the end for the end. In linear time. */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith("$");
  const parts = (isAnchored ? pattern.slice(0, -1) : pattern).split("*");
  const first = parts.shift() ?? "";
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = isAnchored && parts.length > 0 ? parts.pop() : undefined;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (last !== undefined) return path.length - last.length >= at && path.endsWith(last);
  return !isAnchored || at === path.length;
}

/** Reads the groups for `token`, else those for everybody. Lines that say nothing known are passed over. */
export function parseRobots(text: string, token: string): Robots {
  const own: Rule[] = [];
  const general: Rule[] = [];
  let hasOwn = false;
  let targets: Rule[][] = [];
  let isInRules = true;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    // Taken apart step by step: one pattern for all of it would try for ever where there are many blanks.
    const [said = ""] = line.slice(0, 4000).split("#", 1);
    const colon = said.indexOf(":");
    if (colon < 0) continue;
    const name = said.slice(0, colon).trim().toLowerCase();
    const value = said.slice(colon + 1).trim();
    if (name === "user-agent") {
      // Several of these lines after each other begin one group for all of them.
      if (isInRules) targets = [];
      isInRules = false;
      const agent = (/^[A-Za-z_-]+/.exec(value)?.[0] ?? value).toLowerCase();
      if (value === "*") targets.push(general);
      else if (agent === token.toLowerCase()) {
        targets.push(own);
        hasOwn = true;
      }
    } else if (name === "allow" || name === "disallow") {
      isInRules = true;
      if (value === "") continue;
      const rule = { allows: name === "allow", pattern: normal(value) };
      for (const rules of targets) if (rules.length < MAX_RULES) rules.push(rule);
    }
  }
  const rules = hasOwn ? own : general;
  return {
    allows(path) {
      if (path === "/robots.txt") return true;
      const asked = normal(path);
      const fitting = rules.filter(({ pattern }) => matches(pattern, asked));
      const longest = Math.max(-1, ...fitting.map(({ pattern }) => pattern.length));
      const deciding = fitting.filter(({ pattern }) => pattern.length === longest);
      return deciding.length === 0 || deciding.some(({ allows }) => allows);
    },
  };
}

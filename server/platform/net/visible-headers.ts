import { cleanText } from "#server/platform/clean-text.ts";

/** Headers that prove the caller's identity, or that only the front and the framework use. */
const HIDDEN =
  /^(authorization|proxy-authorization|cookie|set-cookie|connection|x-forwarded-.*|x-treadle-.*|x-middleware-.*|x-invoke-.*|x-nextjs-.*|next-.*)$/;
const SECRET = /token|secret|password|signature|session|api[-_]?key|credential|(?:^|[-_])auth(?:$|[-_])/;
const PLATFORM_KEY = "sk-service-";

const MAX_ENTRIES = 100;
const MAX_LENGTH = 32_768;

/**
 * Returns the headers, or query values, that a workflow may read: without those that carry secrets by their name or value. Keeps
 * at most 100, with at most 32,768 characters together. A repeated name has a list.
 * @param isSecret names further entries to leave out, by lower-case name and by value
 */
export function visibleEntries(
  entries: Iterable<[string, string]>,
  isSecret: (name: string, value: string) => boolean = () => false,
): Record<string, string | string[]> {
  const shown = new Map<string, string[]>();
  let length = 0;
  let count = 0;
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (HIDDEN.test(key) || SECRET.test(key) || value.includes(PLATFORM_KEY) || isSecret(key, value)) continue;
    length += name.length + value.length;
    if (++count > MAX_ENTRIES || length > MAX_LENGTH) break;
    const values = shown.get(cleanText(name)) ?? [];
    shown.set(cleanText(name), [...values, cleanText(value)]);
  }
  return Object.fromEntries(
    [...shown].map(([name, values]) => [name, values.length === 1 && values[0] !== undefined ? values[0] : values]),
  );
}

/** The entries of an object by their keys, in the order in which JSON.stringify writes an object made of them: numbers first. */
function orderedEntries(value: object): [string, unknown][] {
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.entries(Object.fromEntries(entries));
}

/** A value with the keys of its objects in order, and without those that are undefined. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(orderedEntries(value).map(([key, item]) => [key, ordered(item)]));
}

/**
 * Writes a value as JSON with the keys of every object in order, so that equal values have equal texts.
 * @param levels of objects and lists of which each item is a piece, such as a body and its lists
 */
export function* canonicalPieces(value: unknown, levels = 2): Generator<string> {
  if (levels === 0 || value === null || typeof value !== "object") return yield JSON.stringify(ordered(value)) ?? "null";
  const isList = Array.isArray(value);
  const items: [name: string, item: unknown][] = isList
    ? value.map((item) => ["", item])
    : orderedEntries(value).map(([key, item]) => [`${JSON.stringify(key)}:`, item]);
  yield isList ? "[" : "{";
  for (const [index, [name, item]] of items.entries()) {
    yield `${index === 0 ? "" : ","}${name}`;
    yield* canonicalPieces(item, levels - 1);
  }
  yield isList ? "]" : "}";
}

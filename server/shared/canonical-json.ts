interface CanonicalOptions {
  /** Leaves properties out that are null: null, undefined and absent are the same then. */
  dropNulls?: boolean;
}

/** Returns the entries of an object by key, in the order in which JSON.stringify writes an object made of them: integers first. */
function orderedEntries(value: object, dropNulls: boolean): [string, unknown][] {
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined && !(dropNulls && item === null))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.entries(Object.fromEntries(entries));
}

/** Returns a copy of a value with the keys of its objects in order. */
function ordered(value: unknown, dropNulls: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item, dropNulls));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(orderedEntries(value, dropNulls).map(([key, item]) => [key, ordered(item, dropNulls)]));
}

/** Writes a value as JSON with the keys of every object in order, so that equal values have equal texts. */
export const canonicalJson = (value: unknown, { dropNulls = false }: CanonicalOptions = {}): string =>
  JSON.stringify(ordered(value, dropNulls)) ?? "null";

/** Returns a text for comparing values in which a property that is null equals an absent one. */
export const comparableJson = (value: unknown): string => canonicalJson(value, { dropNulls: true });

/**
 * Writes `canonicalJson` of a value in pieces.
 * @param levels number of nested levels at which each item is a piece of its own, such as a body and its lists
 */
export function* canonicalPieces(value: unknown, levels = 2): Generator<string> {
  if (levels === 0 || value === null || typeof value !== "object") return yield canonicalJson(value);
  const isList = Array.isArray(value);
  const items: [name: string, item: unknown][] = isList
    ? value.map((item) => ["", item])
    : orderedEntries(value, false).map(([key, item]) => [`${JSON.stringify(key)}:`, item]);
  yield isList ? "[" : "{";
  for (const [index, [name, item]] of items.entries()) {
    yield `${index === 0 ? "" : ","}${name}`;
    yield* canonicalPieces(item, levels - 1);
  }
  yield isList ? "]" : "}";
}

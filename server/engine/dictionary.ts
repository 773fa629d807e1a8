// Looking things up by names that people or other programs chose. A plain object also has the names that every object has:
// a node with the id "constructor" would be found where there is none.

/** An object that has only the entries of these. */
export const dictionary = <Value>(...parts: readonly Readonly<Record<string, Value>>[]): Record<string, Value> =>
  Object.assign(Object.create(null), ...parts);

/** What an object has under a name of its own. */
export const own = <Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

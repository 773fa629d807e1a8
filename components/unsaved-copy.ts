/**
 * Copies of what the server does not have yet, kept in the browser so that neither a crash nor a conflict loses it. Best effort:
 * without storage (private window, full disk) the work is still in the open page.
 * @param prefix of the names that they are stored under
 * @param schema which reads one, and throws on what is none
 */
export function unsavedCopies<Copy>(prefix: string, schema: { parse(kept: unknown): Copy }) {
  const attempt = <Result>(act: () => Result): Result | undefined => {
    try {
      return act();
    } catch {
      return undefined;
    }
  };
  return {
    /** Keeps the first of these that there is room for. @returns whether there was any */
    keep(id: string, ...copies: readonly [Copy, ...Copy[]]): boolean {
      const wasKept = (copy: Copy) =>
        attempt(() => {
          localStorage.setItem(prefix + id, JSON.stringify(copy));
          return true;
        }) === true;
      return copies.some(wasKept);
    },
    drop: (id: string): void => attempt(() => localStorage.removeItem(prefix + id)),
    read: (id: string): Copy | null => attempt(() => schema.parse(JSON.parse(localStorage.getItem(prefix + id) ?? "null"))) ?? null,
  };
}

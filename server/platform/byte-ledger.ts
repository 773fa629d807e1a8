export interface ByteLedger {
  /** Counts bytes as held. Returns false, and counts nothing, when the key or all keys would hold too many. */
  reserve(key: string, bytes: number): boolean;
  release(key: string, bytes: number): void;
}

/**
 * Bounds bytes that this process holds for others.
 * @param limits bytes of one key, such as a client or an account, and of all keys together. With `isFirstFree`, a key that holds
 *   nothing may exceed its own limit, so that nothing is too large to be answered at all
 */
export function createByteLedger({ each, all, isFirstFree = false }: { each: number; all: number; isFirstFree?: boolean }): ByteLedger {
  const held = new Map<string, number>();
  let sum = 0;

  const add = (key: string, bytes: number) => {
    sum += bytes;
    const left = (held.get(key) ?? 0) + bytes;
    if (left > 0) held.set(key, left);
    else held.delete(key);
  };

  return {
    reserve(key, bytes) {
      const before = held.get(key) ?? 0;
      const isFree = isFirstFree && before === 0;
      if (!isFree && before + bytes > each) return false;
      if (sum > 0 && sum + bytes > all) return false;
      add(key, bytes);
      return true;
    },
    release: (key, bytes) => add(key, -bytes),
  };
}

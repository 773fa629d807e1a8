import { setTimeout as pause } from "node:timers/promises";

/** How often a condition is looked at, in milliseconds. */
const POLL_MS = 40;

/**
 * Waits until `look` gives something true, and returns it.
 * @param ms how long at most; generous, because a slow machine is no failure
 * @throws Error that says what was waited for, with the last error that `look` threw
 */
export async function until<T>(look: () => T | Promise<T>, ms = 20_000): Promise<NonNullable<T>> {
  const end = performance.now() + ms;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) throw new Error(`Not so after ${ms} ms: ${look.toString().slice(0, 300)}`, { cause: last });
    await pause(POLL_MS);
  }
}

import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds until a condition is looked at again, and the part of the time passed so far that is added: what takes long needs the machine for itself. */
const POLL_MS = 40;
const POLL_PART = 1 / 20;

/**
 * Waits until `look` gives something true, and returns it.
 * @param ms how long at most; generous, because a slow machine is no failure
 * @throws Error that says what was waited for, with the last error that `look` threw
 */
export async function until<T>(look: () => T | Promise<T>, ms = 20_000): Promise<NonNullable<T>> {
  const begin = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const passed = performance.now() - begin;
    if (passed > ms) throw new Error(`Not so after ${ms} ms: ${look.toString().slice(0, 300)}`, { cause: last });
    await pause(POLL_MS + passed * POLL_PART);
  }
}

import { vi } from "vitest";

/** Gives a test the storage of a browser, with these entries in it. @returns what is in it */
export function stubStorage(entries: Record<string, string> = {}): Map<string, string> {
  const kept = new Map(Object.entries(entries));
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  return kept;
}

import { headers } from "next/headers";
import { cache } from "react";
import type { forPages } from "#server/http/pages.ts";

/** Not `new URL(path, import.meta.url)`, which Next takes for a file to be served. */
const ENTRY = import.meta.url.replace(/app\/server\.ts$/, "server/http/pages.ts");

/**
 * The server that this process runs, as server/main.ts has loaded it: Next bundles nothing of it, or there would be a second one,
 * with connections and settings of its own.
 */
export async function server(): Promise<typeof forPages> {
  const entry: { forPages: typeof forPages } = await import(/* turbopackIgnore: true */ ENTRY);
  return entry.forPages;
}

/** The API as the visitor of this page, called in process; once per request. */
export const serverCaller = cache(async () => (await server()).callerOf(await headers()));

import { cookies, headers } from "next/headers";
import { cache } from "react";
import { PROJECT_COOKIE } from "#components/shell/project-cookie.ts";
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

/** Who is signed in, and the project that was chosen last, else the first. */
export const visitor = cache(async () => {
  const { caller, principal } = await serverCaller();
  if (!principal) return null;
  const profile = await caller.identity.profile({});
  const chosen = (await cookies()).get(PROJECT_COOKIE)?.value;
  return { profile, project: profile.projects.find(({ id }) => id === chosen) ?? profile.projects[0] };
});

/** The API as the visitor of this page, within the project that its frame shows; null for nobody and without a project. */
export const projectCaller = cache(async () => {
  const project = (await visitor())?.project;
  if (!project) return null;
  const named = new Headers(await headers());
  named.set("x-project-id", project.id);
  return (await (await server()).callerOf(named)).caller;
});

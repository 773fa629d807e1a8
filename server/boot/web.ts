import { join } from "node:path";
import next from "next";
import { buildWeb, isBuilt } from "#server/boot/web-build.ts";
import { serveCompressed } from "#server/http/compressed-files.ts";
import { startRunsDirectly } from "#server/http/direct.ts";
import { createFront } from "#server/http/front/front.ts";
import { COUNTING_CONNECTIONS } from "#server/platform/db/connection-needs.ts";
import { newPool } from "#server/platform/db/connections.ts";
import { watchPool } from "#server/platform/db/outage-watch.ts";
import { settings } from "#server/platform/settings.ts";

const root = join(import.meta.dirname, "../..");
/**
 * How long a request may wait to be counted, in milliseconds. A database that is only slow must not make each process
 * count alone, since together they would get past the limit; one that is gone refuses at once.
 */
const COUNT_MS = 30_000;

/** Standard output holds one line, the address; what Next prints while it starts goes where the log goes. */
async function quietly(work: () => Promise<void>): Promise<void> {
  const write = process.stdout.write;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
}

/**
 * Starts the web app behind our front, building it first when that is needed.
 * @param say tells the person at the terminal what takes a while
 * @returns how to stop it: no new connection, streams are told to come back, requests under way end
 * @throws Error with one sentence when the port cannot be had or the build fails
 */
export async function startWeb(isDev: boolean, say: (line: string) => void): Promise<() => Promise<void>> {
  const { PORT, HOST, DATABASE_URL, TREADLE_EMBEDDED_DATABASE } = settings();
  // On a database of its own this process is the only one. On another there may be several, and one limit for all of them:
  // counted over connections of their own, so that nothing else is in their way.
  const counters = TREADLE_EMBEDDED_DATABASE
    ? undefined
    : newPool({ connectionString: DATABASE_URL, max: COUNTING_CONNECTIONS, query_timeout: COUNT_MS, idleTimeoutMillis: 0 });
  if (counters) watchPool(counters);
  // The port is taken first: when it cannot be had, nobody waits for a build to learn so. Early requests wait for the app.
  const ready = Promise.withResolvers<ReturnType<typeof startRunsDirectly>>();
  const front = createFront({
    handle: async (request, response) => (await ready.promise)(request, response),
    // Next listens for upgrades by itself from its first request on; hot reload is all that uses them.
    ...(isDev && { upgrade: () => undefined }),
    settings: settings(),
    counters,
  });
  await front.listen(PORT, HOST);
  if (!isDev && !isBuilt(root)) {
    say("Building the web app for the first start; this takes about a minute.");
    await buildWeb(root);
  }
  const app = next({ dev: isDev, dir: root, ...(isDev && { turbopack: true }) });
  await quietly(() => app.prepare());
  const handle = startRunsDirectly(app.getRequestHandler());
  ready.resolve(isDev ? handle : serveCompressed(join(root, ".next/static"), "/_next/static/", handle));
  return async () => {
    await front.drain();
    await app.close();
    await counters?.end();
  };
}

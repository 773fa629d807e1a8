import { Cron } from "croner";
import type pg from "pg";
import { z } from "zod";
import { celProblem } from "#server/jobs/inngest/local/cel.ts";
import { type Queryable, transaction } from "#server/jobs/inngest/local/query.ts";
import { log } from "#server/platform/log.ts";

const Concurrency = z.object({
  limit: z.number().int().min(0),
  key: z.string().optional(),
  scope: z.enum(["fn", "env", "account"]).optional(),
});

// What is read of a function's configuration as the SDK registers it; other options are named in UNSUPPORTED.
const Config = z.looseObject({
  id: z.string(),
  triggers: z.array(z.union([z.object({ event: z.string(), expression: z.string().optional() }), z.object({ cron: z.string() })])),
  steps: z.record(z.string(), z.object({ retries: z.object({ attempts: z.number().int().optional() }).optional() })),
  idempotency: z.string().optional(),
  concurrency: z.union([z.number(), Concurrency, z.array(Concurrency)]).optional(),
  cancel: z.array(z.object({ event: z.string(), if: z.string().optional(), timeout: z.string().optional() })).optional(),
});
type Config = z.infer<typeof Config>;
const Registration = z.object({ app_id: z.string(), functions: z.array(Config) });

const UNSUPPORTED = ["batchEvents", "rateLimit", "throttle", "debounce", "timeouts", "singleton", "priority"];

interface Limit {
  /** Prefix of the slot's name: limits of scope fn count for this function only. */
  name: string;
  key: string | undefined;
  limit: number;
}

export interface LocalFunction {
  id: string;
  maxAttempts: number;
  idempotency: string | undefined;
  limits: Limit[];
  cancels: { event: string; if: string | undefined; timeout: string | undefined }[];
  crons: string[];
}

export interface Registry {
  /** 0 until functions were registered for the first time; events then wait for that. */
  version: number;
  functions: Map<string, LocalFunction>;
  triggers: Map<string, { fn: LocalFunction; if: string | undefined }[]>;
}

function compile(config: Config): LocalFunction {
  const { concurrency } = config;
  const list =
    concurrency === undefined
      ? []
      : Array.isArray(concurrency)
        ? concurrency
        : [typeof concurrency === "number" ? { limit: concurrency } : concurrency];
  return {
    id: config.id,
    maxAttempts: (Object.values(config.steps)[0]?.retries?.attempts ?? 3) + 1,
    idempotency: config.idempotency,
    // A limit of 0 means none, as on a server.
    limits: list
      .filter((one) => one.limit > 0)
      .map((one, index) => ({
        name: one.scope && one.scope !== "fn" ? `${one.scope}:${one.key ?? ""}` : `${config.id}:${index}`,
        key: one.key,
        limit: one.limit,
      })),
    cancels: (config.cancel ?? []).map((one) => ({ event: one.event, if: one.if, timeout: one.timeout })),
    crons: config.triggers.flatMap((trigger) => ("cron" in trigger ? [trigger.cron] : [])),
  };
}

const cache = new WeakMap<pg.Pool, Promise<Registry>>();

/** Reads the functions through a pool, or within a transaction. */
export async function readRegistry(on: Queryable): Promise<Registry> {
  // One statement, so that functions and version belong together.
  const { rows } = await on.query<{ version: string; configs: string[] | null }>(
    "SELECT registry_version::text AS version, (SELECT json_agg(config) FROM treadle_jobs.functions) AS configs FROM treadle_jobs.meta",
  );
  const registry: Registry = { version: Number(rows[0]?.version ?? 0), functions: new Map(), triggers: new Map() };
  for (const text of rows[0]?.configs ?? []) {
    const config = Config.parse(JSON.parse(text));
    const fn = compile(config);
    registry.functions.set(fn.id, fn);
    for (const trigger of config.triggers) {
      if (!("event" in trigger)) continue;
      const list = registry.triggers.get(trigger.event) ?? [];
      list.push({ fn, if: trigger.expression });
      registry.triggers.set(trigger.event, list);
    }
  }
  return registry;
}

/**
 * The functions that the database knows, read once for each pool.
 * @param stale the version that turned out to be old; anything else cached is good enough
 */
export async function registry(pool: pg.Pool, stale?: number): Promise<Registry> {
  const known = cache.get(pool);
  if (known) {
    const value = await known.catch(() => undefined);
    if (value && value.version !== stale) return value;
  }
  const fresh = readRegistry(pool);
  cache.set(pool, fresh);
  return fresh;
}

/** A pattern with an optional "TZ=Area/City " in front, as the SDK allows. */
export function cronJob(pattern: string): Cron {
  const zoned = /^TZ=(\S+)\s+(.+)$/.exec(pattern);
  return zoned
    ? new Cron(zoned[2] ?? "", { paused: true, timezone: zoned[1] ?? "UTC" })
    : new Cron(pattern, { paused: true, timezone: "UTC" });
}

/** The first tick of a cron pattern after `now`, milliseconds since 1970; undefined when there is none. */
export const nextTick = (pattern: string, now: number): number | undefined => cronJob(pattern).nextRun(new Date(now))?.getTime();

function check(config: Config): void {
  const unsupported = UNSUPPORTED.filter((name) => config[name] !== undefined);
  if (unsupported.length)
    log.warn({ fn: config.id, options: unsupported }, "the embedded executor does not support these options of a function");
  const expressions = [
    config.idempotency,
    ...config.triggers.map((trigger) => ("expression" in trigger ? trigger.expression : undefined)),
    ...(config.cancel ?? []).map((cancel) => cancel.if),
    ...compile(config).limits.map((limit) => limit.key),
  ];
  for (const expression of expressions) {
    const problem = expression && celProblem(expression);
    if (problem) throw new Error(`The expression ${expression} of function ${config.id} cannot be read: ${problem}`);
  }
  for (const trigger of config.triggers) if ("cron" in trigger) cronJob(trigger.cron);
}

/**
 * Asks the SDK's handler for its functions and stores their configuration when it has changed.
 * @param route sends events stored before anything was registered, within the same transaction
 * @returns the ids of the handler's functions
 * @throws Error when the handler refuses or a function cannot be served
 */
export async function register(
  pool: pg.Pool,
  handler: (request: Request) => Promise<Response>,
  now: number,
  route: (client: pg.PoolClient, payloads: string[]) => Promise<void>,
): Promise<string[]> {
  const url = "http://inngest.local/api/inngest";
  const response = await handler(
    new Request(url, {
      method: "PUT",
      headers: { host: "inngest.local", "content-type": "application/json", "x-inngest-sync-kind": "in_band" },
      body: JSON.stringify({ url }),
    }),
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`The functions could not be read: ${response.status} ${text.slice(0, 500)}`);
  const { app_id: app, functions } = Registration.parse(JSON.parse(text));
  for (const config of functions) check(config);
  const configs = functions.map((config) => ({ id: config.id, text: JSON.stringify(config) })).sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = configs.map((config) => config.id);

  await transaction(pool, async (client) => {
    await client.query("SELECT pg_advisory_xact_lock(7411, 2)");
    const stored = await client.query<{ id: string; config: string }>("SELECT id, config FROM treadle_jobs.functions WHERE app = $1", [
      app,
    ]);
    const before = new Map(stored.rows.map((row) => [row.id, row.config]));
    if (before.size === configs.length && configs.every((config) => before.get(config.id) === config.text)) return;
    await client.query("DELETE FROM treadle_jobs.functions WHERE app = $1 OR id = ANY($2)", [app, ids]);
    for (const config of configs)
      await client.query("INSERT INTO treadle_jobs.functions VALUES ($1, $2, $3)", [config.id, app, config.text]);
    await client.query("DELETE FROM treadle_jobs.crons c WHERE NOT EXISTS (SELECT 1 FROM treadle_jobs.functions f WHERE f.id = c.fn_id)");
    for (const fn of functions.map(compile)) {
      await client.query("DELETE FROM treadle_jobs.crons WHERE fn_id = $1 AND cron <> ALL($2)", [fn.id, fn.crons]);
      for (const cron of fn.crons) {
        const next = nextTick(cron, now);
        if (next !== undefined)
          await client.query("INSERT INTO treadle_jobs.crons VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", [fn.id, cron, next]);
      }
    }
    await client.query("UPDATE treadle_jobs.meta SET registry_version = registry_version + 1");
    const waiting = await client.query<{ payload: string }>("DELETE FROM treadle_jobs.events WHERE NOT routed RETURNING payload, id");
    if (waiting.rows.length)
      await route(
        client,
        waiting.rows.map((row) => row.payload),
      );
  });
  return ids;
}

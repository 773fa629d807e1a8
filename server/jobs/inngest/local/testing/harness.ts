import { setTimeout as pause } from "node:timers/promises";
import { Inngest, type InngestFunction } from "inngest";
import { serve } from "inngest/edge";
import pg from "pg";
import { type LocalExecutor, type LocalExecutorOptions, startLocalExecutor } from "#server/jobs/inngest/local/executor.ts";
import { createLocalFetch } from "#server/jobs/inngest/local/fetch.ts";
import { createTestDatabase } from "#server/testing/test-database.ts";

/** A database of its own for a test file, without any table. */
export async function startDatabase() {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  const pools: pg.Pool[] = [];
  const open = (): pg.Pool => {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on("error", () => undefined);
    pools.push(pool);
    return pool;
  };
  return {
    url,
    open,
    async stop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await drop();
    },
  };
}

/** A clock that a test moves; it runs on with the real time. */
function createClock() {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    move(ms: number) {
      ahead += ms;
    },
  };
}

/** Waits until `look` gives something other than undefined, null, false and 0. */
export async function until<T>(look: () => T | Promise<T>, ms = 8000): Promise<NonNullable<T>> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false && found !== 0) return found as NonNullable<T>;
    if (Date.now() > end) throw new Error(`Not so after ${ms} ms: ${look.toString().slice(0, 200)}`);
    await pause(5);
  }
}

interface RunRow {
  id: string;
  fn_id: string;
  status: string;
  output: string | null;
  owner: number | null;
  due_at: string | null;
}

let apps = 0;

type Handler = (request: Request) => Promise<Response>;

/** An app of its own with its functions, client, clock and executors on the database of the file. */
export function createApp(pool: pg.Pool) {
  apps++;
  const clock = createClock();
  const client = new Inngest({
    id: `app${apps}`,
    aiMetadata: false,
    checkpointing: { bufferedSteps: 1, maxRuntime: 0 },
    isDev: true,
    eventKey: "local",
    baseUrl: "http://inngest.local",
    logger: { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} },
    fetch: createLocalFetch(() => pool, clock),
  });
  const executors: LocalExecutor[] = [];
  /** The runs of its functions, oldest first. */
  async function runs(): Promise<RunRow[]> {
    const { rows } = await pool.query<RunRow>(
      "SELECT id, fn_id, status, output, owner, due_at FROM treadle_jobs.runs WHERE fn_id LIKE $1 ORDER BY created_at, id",
      [`${client.id}-%`],
    );
    return rows;
  }
  return {
    client,
    runs,
    /** The runs, once there are so many and all have ended. */
    ended: (count = 1) =>
      until(async () => {
        const all = await runs();
        return all.length >= count && all.every((run) => run.status !== "running") ? all : undefined;
      }),
    clock,
    name: (event: string) => `app${apps}/${event}`,
    async start(
      functions: InngestFunction.Any[],
      options: {
        concurrency?: number;
        heartbeatMs?: number;
        pool?: pg.Pool;
        wrap?: (handler: Handler) => Handler;
        firstSteps?: LocalExecutorOptions["firstSteps"];
      } = {},
    ) {
      const handler: Handler = serve({ client, functions });
      const executor = await startLocalExecutor({
        handler: options.wrap ? options.wrap(handler) : handler,
        concurrency: options.concurrency ?? 20,
        clock,
        heartbeatMs: options.heartbeatMs ?? 500,
        pool: options.pool ?? pool,
        ...(options.firstSteps && { firstSteps: options.firstSteps }),
      });
      executors.push(executor);
      return executor;
    },
    /** Moves the clock and lets every executor look. */
    move(ms: number) {
      clock.move(ms);
      for (const executor of executors) executor.poke();
    },
    async stop() {
      await Promise.all(executors.splice(0).map((executor) => executor.stop(1000)));
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { installJobSchema } from "#server/jobs/inngest/local/schema.ts";
import { createApp, startDatabase, until } from "#server/jobs/inngest/local/testing/harness.ts";

let database: Awaited<ReturnType<typeof startDatabase>>;
let pool: pg.Pool;
let app: ReturnType<typeof createApp>;
const children: ChildProcess[] = [];

beforeAll(async () => {
  database = await startDatabase();
  pool = database.open();
});
afterAll(() => database.stop());
beforeEach(() => {
  app = createApp(pool);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await app.stop();
});

const go = (data: Record<string, unknown> = {}) => app.client.send({ name: app.name("go"), data });
const gate = () => {
  let open = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, closed };
};

test("the schema is installed once by processes that start together", async () => {
  await pool.query("DROP SCHEMA IF EXISTS treadle_jobs CASCADE");
  await Promise.all([1, 2, 3, 4, 5].map(() => installJobSchema(pool)));
  await installJobSchema(pool);
  expect((await pool.query("SELECT schema_version FROM treadle_jobs.meta")).rows).toEqual([{ schema_version: 3 }]);
});

test("an event may be sent before any executor has made the schema", async () => {
  await pool.query("DROP SCHEMA IF EXISTS treadle_jobs CASCADE");
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, () => "late");
  await go();
  await app.start([fn]);
  expect((await app.ended())[0]?.output).toBe('"late"');
});

test("an executor knows whether it is alone: it hears of another at once, and soon that it has gone", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, () => "done");
  const first = await app.start([fn]);
  await until(() => first.isAlone());
  const second = await app.start([fn]);
  await until(() => !first.isAlone());
  expect(second.isAlone()).toBe(false);
  await second.stop();
  expect(second.isAlone()).toBe(false);
  await until(() => first.isAlone());
});

test("two executors share the work, and each step runs once", async () => {
  const seen = new Map<string, number>();
  const served = [0, 0];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ step, runId }) => {
    for (const id of ["a", "b"]) {
      await step.run(id, async () => {
        seen.set(runId + id, (seen.get(runId + id) ?? 0) + 1);
        await until(() => served[0] && served[1]);
      });
    }
    await Promise.all(["c", "d"].map((id) => step.run(id, () => void seen.set(runId + id, (seen.get(runId + id) ?? 0) + 1))));
  });
  for (const n of [0, 1])
    await app.start([fn], {
      concurrency: 4,
      pool: database.open(),
      wrap: (handler) => (request) => {
        if (request.method === "POST") served[n] = (served[n] ?? 0) + 1;
        return handler(request);
      },
    });
  await Promise.all(Array.from({ length: 100 }, () => go()));
  await app.ended(100);
  expect(seen.size).toBe(400);
  expect([...seen.values()].every((count) => count === 1)).toBe(true);
});

test("a process killed in the middle of a step is replaced, and finished steps are not run again", async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "testing/victim.ts"), database.url, app.client.id], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, LOG_LEVEL: "silent" },
  });
  children.push(child);
  await until(async () => {
    const { rows } = await pool.query("SELECT 1 FROM treadle_jobs.functions WHERE app = $1", [app.client.id]);
    return rows.length > 0;
  });
  await go();
  await until(async () => {
    const { rows } = await pool.query("SELECT 1 FROM treadle_jobs.steps s JOIN treadle_jobs.runs r ON r.id = s.run_id WHERE r.fn_id = $1", [
      `${app.client.id}-fn`,
    ]);
    return rows.length > 0;
  });
  child.kill("SIGKILL");
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    const first = await step.run("first", () => "heir");
    return [first, await step.run("second", () => "heir")];
  });
  await app.start([fn], { heartbeatMs: 3000 });
  expect((await app.ended())[0]?.output).toBe('["victim","heir"]');
});

test("a worker given up for dead can write nothing, and works on as a new one", async () => {
  const { open, closed } = gate();
  let calls = 0;
  const after: string[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    const by = await step.run("a", async () => {
      if (++calls > 1) return "second";
      await closed;
      return "first";
    });
    await step.run("b", () => after.push(by));
    return by;
  });
  await app.start([fn]);
  await go();
  await until(() => calls === 1);
  // What another executor does when the heartbeat stays away.
  await pool.query("DELETE FROM treadle_jobs.workers");
  await until(() => calls === 2);
  await app.ended();
  open();
  await go();
  const runs = await app.ended(2);
  expect(runs.map((run) => run.output)).toEqual(['"second"', '"second"']);
  expect(after).toEqual(["second", "second"]);
});

test("a run whose process dies each time is ended in the end", async () => {
  const fn = app.client.createFunction({ id: "fn", retries: 1, triggers: [{ event: app.name("go") }] }, ({ step }) =>
    step.run("a", () => new Promise(() => undefined)),
  );
  await app.start([fn]);
  await go();
  for (let death = 0; death < 2; death++) {
    await until(async () => {
      const { rows } = await pool.query("SELECT 1 FROM treadle_jobs.runs WHERE owner IS NOT NULL AND fn_id LIKE $1 AND crashes = $2", [
        `${app.client.id}%`,
        death,
      ]);
      return rows.length > 0;
    });
    await pool.query("DELETE FROM treadle_jobs.workers");
  }
  const [run] = await app.ended();
  expect(run?.status).toBe("failed");
  expect(run?.output).toMatch(/ended each time/);
});

test("stop lets a running step end within the grace time, starts nothing more and gives the rest back", async () => {
  const { open, closed } = gate();
  const seen: string[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step }) => {
    await step.run("a", async () => {
      seen.push(`${event.data.id}a`);
      if (event.data.id === "stuck" && seen.filter((one) => one === "stucka").length === 1) await new Promise(() => undefined);
      await closed;
    });
    await step.sleep("s", "1s");
    return step.run("b", () => `${seen.push(`${event.data.id}b`)}` && event.data.id);
  });
  const first = await app.start([fn]);
  await go({ id: "kind" });
  await go({ id: "stuck" });
  await until(() => seen.length === 2);
  const stopped = first.stop(400);
  await go({ id: "late" });
  open();
  await stopped;
  expect(seen.sort()).toEqual(["kinda", "stucka"]);
  const { rows } = await pool.query("SELECT 1 FROM treadle_jobs.runs WHERE owner IS NOT NULL");
  expect(rows).toHaveLength(0);
  await app.start([fn]);
  await until(() => seen.length === 4);
  await until(async () => (await app.runs()).every((run) => run.owner === null));
  app.move(1500);
  expect((await app.ended(3)).map((run) => JSON.parse(run.output ?? "")).sort()).toEqual(["kind", "late", "stuck"]);
  expect(seen.filter((one) => one === "kinda")).toHaveLength(1);
});

test("a database that goes away and comes back does not end the executor, and no result is lost", async () => {
  const { open, closed } = gate();
  let calls = 0;
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step }) => {
    await step.run("a", async () => {
      calls++;
      if (event.data.wait) await closed;
    });
    return "done";
  });
  await app.start([fn], { pool: database.open() });
  await go({ wait: true });
  await until(() => calls === 1);
  const name = new URL(database.url).pathname.slice(1);
  const outside = new pg.Client({ connectionString: Object.assign(new URL(database.url), { pathname: "/postgres" }).href });
  await outside.connect();
  await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await outside.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
  open();
  await expect(pool.query("SELECT 1")).rejects.toThrow();
  await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await outside.end();
  await app.ended();
  await go();
  await app.ended(2);
  expect(calls).toBe(2);
});

test("a claim whose answer is lost and a write that fails leave no run behind", async () => {
  const own = database.open();
  const query = own.query.bind(own);
  const lost = new Set(["tj_claim", "tj_apply"]);
  let armed = false;
  own.query = (async (...args: Parameters<typeof query>) => {
    const result = await query(...args);
    const name = String(Reflect.get(Object(args[0]), "name"));
    if (armed && lost.delete(name)) throw new Error(`the answer of ${name} is lost`);
    return result;
  }) as typeof own.query;
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    await step.run("a", () => 1);
    await step.sleep("s", "1s");
  });
  await app.start([fn], { pool: own });
  armed = true;
  await go();
  await until(async () => lost.size === 0 && (await app.runs()).every((run) => run.owner === null));
  app.move(1500);
  expect((await app.ended())[0]?.status).toBe("completed");
});

test("what has ended is deleted after an hour, what is open stays", async () => {
  const fn = app.client.createFunction(
    { id: "fn", idempotency: "event.data.id", triggers: [{ event: app.name("go") }] },
    async ({ event, step }) => {
      await step.run("a", () => 1);
      if (event.data.id === "open") await step.waitForEvent("w", { event: app.name("wake"), timeout: "3d" });
    },
  );
  const executor = await app.start([fn]);
  for (const id of ["open", "x", "y"]) await go({ id });
  const left = async () => (await app.runs()).length;
  await until(async () => (await app.runs()).filter((run) => run.status === "completed").length === 2);
  await executor.clean();
  expect(await left()).toBe(3);
  app.move(3_700_000);
  await executor.clean();
  expect(await left()).toBe(1);
  await go({ id: "x" });
  expect(await left()).toBe(1);
  app.move(25 * 3_600_000);
  await executor.clean();
  const rest = async (table: string) => Number((await pool.query(`SELECT count(*) AS n FROM treadle_jobs.${table}`)).rows[0]?.n);
  expect([await rest("keys"), await rest("events"), await rest("waits")]).toEqual([0, 0, 1]);
});

test("functions added later are found by senders that know the older ones", async () => {
  const one = app.client.createFunction({ id: "one", triggers: [{ event: app.name("go") }] }, () => 1);
  const two = app.client.createFunction({ id: "two", triggers: [{ event: app.name("go") }] }, () => 2);
  await app.start([one]);
  await go();
  await app.ended();
  await app.start([one, two]);
  await go();
  expect((await app.ended(3)).map((run) => run.output).sort()).toEqual(["1", "1", "2"]);
});

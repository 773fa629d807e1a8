import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createApp, startDatabase, until } from "#server/jobs/inngest/local/testing/harness.ts";

let database: Awaited<ReturnType<typeof startDatabase>>;
let pool: pg.Pool;
let app: ReturnType<typeof createApp>;

beforeAll(async () => {
  database = await startDatabase();
  pool = database.open();
});
afterAll(() => database.stop());
beforeEach(() => {
  app = createApp(pool);
});
afterEach(() => app.stop());

/** Every run of the app rests until something happens. */
const resting = (count = 1) =>
  until(async () => {
    const runs = (await app.runs()).filter((run) => run.status === "running");
    return runs.length === count && runs.every((run) => run.owner === null && Number(run.due_at) > app.clock.now().getTime());
  }, 20_000);

test("sleep and sleepUntil end when their time has come, not before", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step }) => {
    await step.sleep("nap", 5_400_000);
    await step.sleepUntil("night", new Date(event.data.until));
    return "awake";
  });
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: { until: Date.now() + 86_400_000 } });
  await resting();
  app.move(5_300_000);
  await resting();
  app.move(200_000);
  await until(async () => Number((await app.runs())[0]?.due_at) > Date.now() + 80_000_000);
  app.move(86_400_000);
  expect((await app.ended())[0]?.output).toBe('"awake"');
});

test("an event wakes the run that waits for it and no other; a timeout gives null", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step }) => {
    const wake = await step.waitForEvent("w", { event: app.name("wake"), if: `async.data.id == "${event.data.id}"`, timeout: "10m" });
    return wake?.data.say ?? null;
  });
  await app.start([fn]);
  await app.client.send(["a", "b", "c"].map((id) => ({ name: app.name("go"), data: { id } })));
  await resting(3);
  await app.client.send([{ id: "b", say: "hello" }, { id: "x" }, {}].map((data) => ({ name: app.name("wake"), data })));
  await resting(2);
  app.move(601_000);
  expect((await app.ended(3)).map((run) => run.output).sort()).toEqual(['"hello"', "null", "null"]);
});

test("a wait may match an attribute or use any condition", async () => {
  const match = app.client.createFunction({ id: "match", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    return (await step.waitForEvent("w", { event: app.name("wake"), match: "data.user.id", timeout: "10m" }))?.data.n;
  });
  const loose = app.client.createFunction({ id: "loose", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    const wake = await step.waitForEvent("w", {
      event: app.name("wake"),
      if: "async.data.n > event.data.least && (async.data.kind == 'k' || async.data.any == true)",
      timeout: "10m",
    });
    return wake?.data.n;
  });
  await app.start([match, loose]);
  await app.client.send({ name: app.name("go"), data: { user: { id: 5 }, least: 3 } });
  await resting(2);
  const wake = (data: Record<string, unknown>) => app.client.send({ name: app.name("wake"), data });
  await wake({ n: 9 });
  await wake({ n: 3, kind: "k" });
  await wake({ n: 1, user: { id: "5" } });
  await resting(2);
  await app.client.send(
    [
      { n: 2, user: { id: 5 } },
      { n: 4, any: true },
    ].map((data) => ({ name: app.name("wake"), data })),
  );
  expect((await app.ended(2)).map((run) => run.output).sort()).toEqual(["2", "4"]);
});

test("an event that is sent as soon as the wait is stored is never lost", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step }) => {
    const [wake] = await Promise.all([
      step.waitForEvent("w", { event: app.name("wake"), if: `async.data.id == "${event.data.id}"`, timeout: "1h" }),
      step.run("look", () => app.client.send({ name: app.name("wake"), data: { id: event.data.id } })),
    ]);
    return wake?.data.id;
  });
  await app.start([fn]);
  await app.start([fn], { pool: database.open() });
  const ids = Array.from({ length: 200 }, (_, n) => `run-${n}`);
  await Promise.all(ids.map((id) => app.client.send({ name: app.name("go"), data: { id } })));
  const runs = await app.ended(200);
  expect(runs.map((run) => JSON.parse(run.output ?? "null")).sort()).toEqual(ids.sort());
});

test("steps of a Promise.all run side by side and all must end before the function goes on", async () => {
  let together = 0;
  let most = 0;
  const order: string[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    const work = (id: string) =>
      step.run(id, async () => {
        most = Math.max(most, ++together);
        await until(() => most === 3);
        together--;
        order.push(id);
        return id;
      });
    const all = await Promise.all([work("a"), work("b"), work("c"), step.waitForEvent("w", { event: app.name("wake"), timeout: "1h" })]);
    order.push("after");
    return all.slice(0, 3).join("") + all[3]?.data.n;
  });
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: {} });
  await resting();
  expect(order.sort()).toEqual(["a", "b", "c"]);
  await app.client.send({ name: app.name("wake"), data: { n: 1 } });
  expect((await app.ended())[0]?.output).toBe('"abc1"');
  expect(order).toHaveLength(4);
});

test("a step that fails beside others is tried again alone", async () => {
  const calls = new Map<string, number>();
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, ({ step }) =>
    Promise.all(
      ["a", "b", "c"].map((id) =>
        step.run(id, () => {
          calls.set(id, (calls.get(id) ?? 0) + 1);
          if (id === "b" && calls.get(id) === 1) throw new Error("again");
          return id;
        }),
      ),
    ),
  );
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: {} });
  await resting();
  app.move(2000);
  expect((await app.ended())[0]?.output).toBe('["a","b","c"]');
  expect(Object.fromEntries(calls)).toEqual({ a: 1, b: 2, c: 1 });
});

test("in race mode a chain goes on while another part waits", async () => {
  const seen: string[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, ({ step, group }) =>
    group.parallel({ mode: "race" }, () =>
      Promise.all([
        step.run("a", () => seen.push("a")).then(() => step.run("b", () => seen.push("b"))),
        step.waitForEvent("w", { event: app.name("wake"), timeout: "1h" }),
      ]),
    ),
  );
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: {} });
  await until(() => seen.includes("b"));
  await resting();
  await app.client.send({ name: app.name("wake"), data: {} });
  await app.ended();
  expect(seen).toEqual(["a", "b"]);
});

test("cancelOn ends a resting, a running and a waiting-to-start run, and only those that match", async () => {
  const seen: string[] = [];
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fn = app.client.createFunction(
    {
      id: "fn",
      triggers: [{ event: app.name("go") }],
      cancelOn: [{ event: app.name("stop"), match: "data.id" }],
      concurrency: [{ key: "event.data.lane", limit: 1 }],
    },
    async ({ event, step }) => {
      await step.run("a", async () => {
        seen.push(`${event.data.id}a`);
        if (event.data.id === "running") await gate;
      });
      if (event.data.id === "running") await step.run("b", () => seen.push("never"));
      await step.sleep("s", "1h");
      return "slept";
    },
  );
  await app.start([fn]);
  const go = (id: string, lane: string) => app.client.send({ name: app.name("go"), data: { id, lane } });
  await go("resting", "r");
  await go("spared", "s");
  await resting(2);
  await go("running", "x");
  await until(() => seen.includes("runninga"));
  await go("queued", "x");
  await app.client.send(["resting", "running", "queued", "nobody"].map((id) => ({ name: app.name("stop"), data: { id } })));
  await until(async () => (await app.runs()).filter((run) => run.status === "cancelled").length === 3);
  release();
  app.move(3_601_000);
  expect((await app.ended(4)).map((run) => run.status).sort()).toEqual(["cancelled", "cancelled", "cancelled", "completed"]);
  expect(seen.sort()).toEqual(["restinga", "runninga", "spareda"]);
});

test("a concurrency key bounds the runs of one key and holds up no other", async () => {
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fn = app.client.createFunction(
    { id: "fn", triggers: [{ event: app.name("go") }], concurrency: [{ key: "event.data.p", limit: 2 }] },
    ({ event, step }) =>
      step.run("a", async () => {
        const { p } = event.data;
        running.set(p, (running.get(p) ?? 0) + 1);
        most.set(p, Math.max(most.get(p) ?? 0, running.get(p) ?? 0));
        if (p === "a") await gate;
        await pause(1);
        running.set(p, (running.get(p) ?? 0) - 1);
      }),
  );
  await app.start([fn]);
  await app.start([fn], { pool: database.open() });
  await app.client.send(Array.from({ length: 60 }, () => ({ name: app.name("go"), data: { p: "a" } })));
  await app.client.send(Array.from({ length: 20 }, () => ({ name: app.name("go"), data: { p: "b" } })));
  await until(async () => (await app.runs()).filter((run) => run.status === "completed").length === 20);
  expect(running.get("a")).toBe(2);
  release();
  await app.ended(80);
  expect(Object.fromEntries(most)).toEqual({ a: 2, b: 2 });
});

test("1,000 resting runs cost nothing: no query while nothing is due", async () => {
  const own = database.open();
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    await step.sleep("s", "2h");
  });
  await app.start([fn], { pool: own, concurrency: 50 });
  for (let n = 0; n < 10; n++) await app.client.send(Array.from({ length: 100 }, () => ({ name: app.name("go"), data: {} })));
  const count = async (where: string) =>
    Number(
      (await pool.query(`SELECT count(*) AS n FROM treadle_jobs.runs WHERE fn_id = $1 AND ${where}`, [`${app.client.id}-fn`])).rows[0]?.n,
    );
  await until(async () => (await count(`owner IS NULL AND due_at > ${Date.now() + 1000}`)) === 1000, 20_000);
  let queries = 0;
  const query = own.query.bind(own);
  own.query = ((...args: Parameters<typeof query>) => {
    queries++;
    return query(...args);
  }) as typeof own.query;
  await pause(1500);
  expect(queries).toBe(0);
  app.move(7_201_000);
  await until(async () => (await count("status = 'completed'")) === 1000, 20_000);
});

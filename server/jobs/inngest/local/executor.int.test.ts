import { NonRetriableError, RetryAfterError } from "inngest";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createLocalFetch } from "#server/jobs/inngest/local/fetch.ts";
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

const parked = () =>
  until(async () =>
    (await app.runs()).filter((run) => run.status === "running").every((run) => run.owner === null && Number(run.due_at) > Date.now()),
  );

test("an event that comes before anything is registered waits for it", async () => {
  await app.client.send([
    { name: app.name("early"), data: { n: 1 } },
    { name: app.name("nobody"), data: {} },
  ]);
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("early") }] }, ({ event }) => event.data.n);
  await app.start([fn]);
  expect((await app.ended()).map((run) => run.output)).toEqual(["1"]);
});

test("an event starts a function, steps run once in order, the result is kept", async () => {
  const seen: string[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step, runId }) => {
    const a = await step.run("a", () => {
      seen.push("a");
      return { n: event.data.n + 1 };
    });
    const b = await step.run("b", () => {
      seen.push("b");
      return a.n * 2;
    });
    return { b, runId };
  });
  await app.start([fn]);
  const { ids } = await app.client.send({ name: app.name("go"), data: { n: 4 } });
  expect(ids[0]).toMatch(/^[0-9A-Z]{26}$/);
  const [run] = await app.ended();
  expect(run?.status).toBe("completed");
  expect(JSON.parse(run?.output ?? "")).toEqual({ b: 10, runId: run?.id });
  expect(seen).toEqual(["a", "b"]);
});

test("an event id counts once for 24 hours, also when sent at the same moment", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, () => 1);
  await app.start([fn]);
  const event = { id: app.name("same"), name: app.name("go"), data: {} };
  const answers = await Promise.all([1, 2, 3, 4].map(() => app.client.send(event)));
  expect(answers.every((answer) => answer.ids[0] === event.id)).toBe(true);
  app.move(23 * 3_600_000);
  await app.client.send(event);
  await app.client.send({ name: app.name("go"), data: {} });
  expect(await app.ended(2)).toHaveLength(2);
});

test("a request that the SDK repeats stores its events once", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, () => 1);
  await app.start([fn]);
  const fetch = createLocalFetch(() => pool);
  const body = JSON.stringify([
    { name: app.name("go"), data: {} },
    { name: app.name("go"), data: {} },
  ]);
  const send = async () =>
    (
      await fetch("http://inngest.local/e/local", {
        method: "POST",
        body,
        headers: { "x-inngest-event-id-seed": "1700000000000,c2VlZA==" },
      })
    ).json();
  const [first, again] = [await send(), await send()];
  expect(first).toEqual(again);
  expect(new Set(first.ids).size).toBe(2);
  expect(await app.ended(2)).toHaveLength(2);
});

test("what is not known is answered with 404, a bad event with 400", async () => {
  const fetch = createLocalFetch(() => pool);
  expect((await fetch("http://inngest.local/v1/signals", { method: "POST", body: "{}" })).status).toBe(404);
  expect((await fetch("http://inngest.local/e/x", { method: "POST", body: '[{"data":{}}]' })).status).toBe(400);
  expect(
    (await fetch("http://inngest.local/v1/checkpoint/none/async", { method: "POST", body: '{"qi_id":"1.1","steps":[]}' })).status,
  ).toBe(409);
});

test("a trigger's condition decides; a missing attribute makes it false", async () => {
  const seen: unknown[] = [];
  const fn = app.client.createFunction(
    { id: "fn", triggers: [{ event: app.name("go"), if: "event.data.n > 2 && event.data.kind != 'x'" }] },
    ({ event }) => {
      seen.push(event.data);
    },
  );
  await app.start([fn]);
  await app.client.send(
    [{ n: 1, kind: "a" }, { n: 3, kind: "a" }, { n: 3 }, { kind: "a" }, { n: 3, kind: "x" }].map((data) => ({
      name: app.name("go"),
      data,
    })),
  );
  await app.ended();
  expect(seen).toEqual([{ n: 3, kind: "a" }]);
});

test("function idempotency: one run for each key in 24 hours", async () => {
  const fn = app.client.createFunction(
    { id: "fn", triggers: [{ event: app.name("go") }], idempotency: "event.data.id + '-' + string(event.data.dispatch)" },
    ({ event }) => event.data,
  );
  await app.start([fn]);
  const send = (id: string, dispatch: number) => app.client.send({ name: app.name("go"), data: { id, dispatch } });
  await Promise.all([send("a", 1), send("a", 1), send("a", 2), send("b", 1), send("b", 1)]);
  expect(await app.ended(3)).toHaveLength(3);
  app.move(25 * 3_600_000);
  await send("a", 1);
  expect(await app.ended(4)).toHaveLength(4);
});

test("a failing step is tried again later, finished steps are not", async () => {
  const seen: string[] = [];
  const fn = app.client.createFunction({ id: "fn", retries: 3, triggers: [{ event: app.name("go") }] }, async ({ step, attempt }) => {
    await step.run("a", () => seen.push("a"));
    await step.run("b", () => {
      seen.push(`b${attempt}`);
      if (attempt < 2) throw new Error("not yet");
    });
    return step.run("c", () => seen.push(`c${attempt}`));
  });
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: {} });
  for (const count of [2, 3]) {
    await until(() => seen.length === count);
    await parked();
    app.move(10_000);
  }
  const [run] = await app.ended();
  expect(run?.status).toBe("completed");
  expect(seen).toEqual(["a", "b0", "b1", "b2", "c0"]);
});

test("RetryAfterError says when, NonRetriableError and the last attempt end it", async () => {
  let calls = 0;
  const later = app.client.createFunction({ id: "later", triggers: [{ event: app.name("later") }] }, ({ step }) =>
    step.run("a", () => {
      if (++calls === 1) throw new RetryAfterError("busy", "1h");
      return calls;
    }),
  );
  const never = app.client.createFunction({ id: "never", triggers: [{ event: app.name("never") }] }, ({ step }) =>
    step.run("a", () => {
      throw new NonRetriableError("no use");
    }),
  );
  const once = app.client.createFunction({ id: "once", retries: 0, triggers: [{ event: app.name("once") }] }, () => {
    throw new Error("only once");
  });
  await app.start([later, never, once]);
  await app.client.send(["later", "never", "once"].map((name) => ({ name: app.name(name), data: {} })));
  const find = async (id: string) => (await app.runs()).find((run) => run.fn_id.endsWith(id));
  await until(async () => (await find("-never"))?.status === "failed" && (await find("-once"))?.status === "failed");
  expect(JSON.parse((await find("-never"))?.output ?? "")).toMatchObject({ name: "NonRetriableError", message: "no use" });
  expect(JSON.parse((await find("-once"))?.output ?? "")).toMatchObject({ message: "only once" });
  const due = await until(async () => Number((await find("-later"))?.due_at));
  expect(due - Date.now()).toBeGreaterThan(3_500_000);
  app.move(3_601_000);
  await until(async () => (await find("-later"))?.status === "completed");
  expect(calls).toBe(2);
});

test("a function may catch a failed step and go on", async () => {
  const fn = app.client.createFunction({ id: "fn", retries: 0, triggers: [{ event: app.name("go") }] }, async ({ step }) => {
    const caught = await step
      .run("a", () => {
        throw new TypeError("broken");
      })
      .catch((error: Error) => `${error.name}: ${error.message}`);
    return step.run("b", () => caught);
  });
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: {} });
  expect((await app.ended())[0]?.output).toBe('"TypeError: broken"');
});

test("a function that throws outside its steps is tried again, then onFailure is told why", async () => {
  const attempts: number[] = [];
  const told: unknown[] = [];
  const fn = app.client.createFunction(
    {
      id: "fn",
      retries: 1,
      triggers: [{ event: app.name("go") }],
      onFailure: ({ error, event, runId }) => {
        told.push([error.message, event.data.event.data, event.data.run_id, runId]);
      },
    },
    ({ attempt }) => {
      attempts.push(attempt);
      throw new Error(`broken ${attempt}`);
    },
  );
  const other = app.client.createFunction(
    { id: "other", triggers: [{ event: app.name("x") }], onFailure: () => void told.push("wrong") },
    () => 1,
  );
  await app.start([fn, other]);
  await app.client.send({ name: app.name("go"), data: { n: 7 } });
  await until(() => attempts.length === 1);
  await parked();
  app.move(2000);
  const runs = await app.ended(2);
  expect(attempts).toEqual([0, 1]);
  const failure = runs.find((run) => run.fn_id.endsWith("fn-failure"));
  expect(told).toEqual([["broken 1", { n: 7 }, runs.find((run) => run.status === "failed")?.id, failure?.id]]);
});

test("step.sendEvent sends once, whatever is tried again after it", async () => {
  const child = app.client.createFunction({ id: "child", triggers: [{ event: app.name("child") }] }, ({ event }) => event.data.n);
  const parent = app.client.createFunction({ id: "parent", triggers: [{ event: app.name("go") }] }, async ({ step, attempt }) => {
    const { ids } = await step.sendEvent(
      "send",
      [1, 2].map((n) => ({ name: app.name("child"), data: { n } })),
    );
    await step.run("after", () => {
      if (attempt === 0) throw new Error("again");
    });
    return ids.length;
  });
  await app.start([child, parent]);
  await app.client.send({ name: app.name("go"), data: {} });
  await until(async () => (await app.runs()).filter((run) => run.status === "completed").length === 2);
  await parked();
  app.move(2000);
  expect((await app.ended(3)).map((run) => run.output).sort()).toEqual(["1", "2", "2"]);
});

test("large and unusual data goes through untouched", async () => {
  const big = "x".repeat(2_000_000);
  const odd = { text: 'nul \u0000 quote " back \\ line \u2028 ünï 🙂', deep: [[{ a: null }]], n: 1e21 };
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async ({ event, step }) => {
    const a = await step.run("big", () => ({ big, odd: event.data }));
    await step.sleep("rest", "1s");
    return { same: a.big === big, odd: a.odd };
  });
  await app.start([fn]);
  await app.client.send({ name: app.name("go"), data: odd });
  await until(async () => Number((await app.runs())[0]?.due_at) > Date.now());
  app.move(1500);
  expect(JSON.parse((await app.ended())[0]?.output ?? "")).toEqual({ same: true, odd });
});

test("a cron tick starts one run, however many executors there are", async () => {
  const seen: number[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ cron: "* * * * *" }] }, ({ event }) => {
    seen.push(event.ts ?? 0);
  });
  await app.start([fn]);
  await app.start([fn]);
  await app.start([fn], { pool: database.open() });
  for (const count of [1, 2, 3]) {
    app.move(60_000);
    await app.ended(count);
  }
  const runs = await app.ended(3);
  expect(runs).toHaveLength(3);
  expect(new Set(seen).size).toBe(3);
  expect(seen.every((ts) => ts % 60_000 === 0)).toBe(true);
});

test("functions that cannot be served are refused at the start", async () => {
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go"), if: "event.data.(" }] }, () => 1);
  await expect(app.start([fn])).rejects.toThrow(/cannot be read/);
});

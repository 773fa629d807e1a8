import { NonRetriableError } from "inngest";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { until } from "#e2e/until.ts";
import { eventType } from "#server/events/events.ts";
import { defineJob, type Job } from "#server/jobs/job.ts";
import { inngestCarrier } from "#server/testing/inngest-carrier.ts";
import { type Carrier, postgresCarrier } from "#server/testing/jobs.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// What a job may count on, whichever adapter carries it.

testDatabase();

const schema = z.object({ key: z.string(), n: z.number() });
const went = eventType("test/went", schema);
const woke = eventType("test/woke", z.object({ key: z.string() }), { match: "key" });
let sent = 0;
const event = (key = "k", id = `event-${++sent}`) => went.create({ key, n: sent }, { id });

type Handler = Job<z.infer<typeof schema>>["handler"];
const jobOf = (handler: Handler, more: Partial<Job<z.infer<typeof schema>>> = {}) => [
  defineJob({ id: "test-job", name: "Test", trigger: { event: went }, retries: 0, handler, ...more }),
];

describe.each([
  ["PostgreSQL", postgresCarrier],
  ["an Inngest server", inngestCarrier],
])("on %s", (_, open) => {
  let carrier: Carrier;
  beforeEach(() => {
    carrier = open();
  });
  afterEach(() => carrier.stop());

  test("steps run one after the other, each with what the one before it gave", async () => {
    const done: unknown[] = [];
    await carrier.start(
      jobOf(async ({ event: { data }, step }) => {
        const first = await step.run("first", () => ({ n: data.n + 1 }));
        done.push(await step.run("second", async () => [first.n, data.key]));
      }),
    );
    const one = event();
    await carrier.send(one);
    await until(() => done.length);
    expect(done).toEqual([[one.data.n + 1, "k"]]);
  });

  test("a step that fails is run again, and the job goes on", async () => {
    let tries = 0;
    let isDone = false;
    const jobs = jobOf(
      async ({ step }) => {
        const n = await step.run("try", () => {
          tries += 1;
          if (tries < 3) throw new Error("Not yet.");
          return tries;
        });
        await step.run("after", () => {
          isDone = n === 3;
        });
      },
      { retries: 2 },
    );
    await carrier.start(jobs);
    await carrier.send(event());
    await until(async () => {
      await carrier.hurry();
      return isDone;
    });
    expect(tries).toBe(3);
  });

  test("a job that fails each time ends with its onFailure, which hears of the event and the error, once", async () => {
    let tries = 0;
    const failures: unknown[] = [];
    await carrier.start(
      jobOf(
        ({ step }) =>
          step.run("fail", () => {
            tries += 1;
            throw Object.assign(new Error("Never."), { name: "AppError" });
          }),
        { retries: 2, onFailure: ({ event: { data }, error }) => failures.push([data.key, error.name, error.message]) },
      ),
    );
    await carrier.send(event("x"));
    await until(async () => {
      await carrier.hurry();
      return failures.length;
    });
    await carrier.hurry();
    expect([tries, failures]).toEqual([3, [["x", "AppError", "Never."]]]);
  });

  test("a job that says that it cannot succeed is not tried again", async () => {
    let tries = 0;
    const failures: unknown[] = [];
    const jobs = jobOf(
      () => {
        tries += 1;
        throw new NonRetriableError("Never.");
      },
      { retries: 2, onFailure: ({ event: { data }, error }) => failures.push([data.key, error.message]) },
    );
    await carrier.start(jobs);
    await carrier.send(event("x"));
    await until(() => failures.length);
    await carrier.hurry();
    expect([tries, failures]).toEqual([1, [["x", "Never."]]]);
  });

  test("an event that is sent again before its job has begun counts once", async () => {
    const ran: string[] = [];
    const jobs = jobOf(({ event: { data }, step }) => step.run("note", () => ran.push(data.key)));
    await carrier.send(event("a", "same"), event("a", "same"));
    await carrier.send(event("a", "same"), event("b"));
    await carrier.start(jobs);
    await until(() => ran.includes("b") && ran.includes("a"));
    await carrier.stop();
    expect(ran.sort()).toEqual(["a", "b"]);
  });

  test("a time of the clock begins a job once, however many processes look at it", async () => {
    let fired = 0;
    const jobs = [
      defineJob({
        id: "test-clock",
        name: "Clock",
        trigger: { cron: "* * * * *" },
        retries: 0,
        handler: ({ step }) => step.run("fire", () => ++fired),
      }),
    ];
    await carrier.tick(jobs);
    await carrier.start(jobs);
    await carrier.start(jobs);
    await until(() => fired);
    await carrier.stop();
    expect(fired).toBe(1);
  });

  test("no more run at once for a key than its limit, over all processes, and others do not wait for them", async () => {
    const now = new Map<string, number>();
    const most = new Map<string, number>();
    let done = 0;
    let isOpen = false;
    const jobs = jobOf(
      ({ event: { data }, step }) =>
        step.run("work", async () => {
          now.set(data.key, (now.get(data.key) ?? 0) + 1);
          most.set(data.key, Math.max(most.get(data.key) ?? 0, now.get(data.key) ?? 0));
          await until(() => isOpen || data.key === "other");
          now.set(data.key, (now.get(data.key) ?? 0) - 1);
          done += 1;
        }),
      { concurrency: { key: "event.data.key", limit: 2 } },
    );
    await carrier.send(...Array.from({ length: 8 }, () => event("busy")), event("other"));
    await carrier.start(jobs);
    await carrier.start(jobs);
    await until(() => done === 1 && now.get("busy") === 2);
    isOpen = true;
    await until(() => done === 9);
    expect([...most].sort()).toEqual([
      ["busy", 2],
      ["other", 1],
    ]);
  });

  test("a job sleeps over the end of its process, and wakes in another", async () => {
    let hasSlept = false;
    let isDone = false;
    const jobs = jobOf(async ({ step }) => {
      await step.run("before", () => {
        hasSlept = true;
      });
      await step.sleep("nap", 3_600_000);
      await step.sleepUntil("night", new Date(Date.now() - 1));
      await step.run("after", () => {
        isDone = true;
      });
    });
    await carrier.start(jobs);
    await carrier.send(event());
    await until(() => hasSlept);
    await carrier.stop();
    await carrier.start(jobs);
    expect(isDone).toBe(false);
    await until(async () => {
      await carrier.hurry();
      return isDone;
    });
  });

  test("a job waits for an event of its own until it comes, or its time is over; what runs beside the wait may send it", async () => {
    const woken = new Map<string, unknown>();
    const waiting: string[] = [];
    const jobs = jobOf(async ({ event: { data }, step }) => {
      const [wake] = await Promise.all([
        step.waitForEvent("wake", { event: woke, timeout: 3_600_000 }),
        step.run("look", async () => {
          if (data.key === "beside") await carrier.send(woke.create({ key: "beside" }, { id: `wake-${sent}` }));
          waiting.push(data.key);
        }),
      ]);
      await step.run("after", () => void woken.set(data.key, wake?.name));
    });
    await carrier.start(jobs);
    await carrier.send(event("told"), event("late"), event("beside"));
    await until(() => woken.has("beside") && ["told", "late"].every((key) => waiting.includes(key)));
    await until(async () => {
      await carrier.send(woke.create({ key: "told" }, { id: `wake-${++sent}` }));
      return woken.has("told");
    });
    expect(Object.fromEntries(woken)).toEqual({ beside: "test/woke", told: "test/woke" });
    await until(async () => {
      await carrier.hurry();
      return woken.has("late");
    });
    expect(woken.size).toBe(3);
  });
});

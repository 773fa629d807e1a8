import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import type { JobEvent } from "#server/events/events.ts";
import { functionOf } from "#server/jobs/inngest-functions.ts";
import type { Job } from "#server/jobs/job.ts";
import { log } from "#server/platform/log.ts";
import type { Carrier } from "#server/testing/jobs.ts";

// An Inngest server in this process, as far as the contract of jobs needs one: it speaks the SDK's protocol, and keeps what
// such a server keeps. Its time stands still: what waits for its time waits until it is told to hurry.

interface Config {
  id: string;
  triggers: { event?: string; cron?: string; expression?: string }[];
  steps: Record<string, { retries?: { attempts: number } }>;
  concurrency?: { key?: string; limit: number }[];
}
type Memo = { type: "data"; data: unknown } | { type: "error"; error: unknown };
interface Open {
  kind: "planned" | "retry" | "sleep" | "wait";
  event?: string;
  expression?: string;
}
interface Run {
  fn: Config;
  event: Omit<JobEvent, "wakes">;
  memo: Map<string, Memo>;
  open: Map<string, Open>;
  attempt: number;
  isBusy: boolean;
}
interface Operation {
  op: string;
  id: string;
  name?: string;
  data?: unknown;
  error?: unknown;
  opts?: { if?: string };
}
type Handler = (request: Request) => Promise<Response>;

const APP = "contract";
const FAILED = "inngest/function.failed";

/** The field of the event's data that an expression such as `event.data.key` or `… == async.data.key` is about. */
const fieldOf = (expression: string): string => /event\.data\.(\w+)/.exec(expression)?.[1] ?? "";
const dataAt = (data: unknown, expression: string): unknown => Reflect.get(Object(data), fieldOf(expression));

export function inngestCarrier(): Carrier & { answers: readonly string[] } {
  const client = new Inngest({ id: APP, isDev: true, eventKey: "contract", checkpointing: false, logger: log });
  let handlers: Handler[] = [];
  let functions: Config[] = [];
  const events: Run["event"][] = [];
  const seen = new Set<string>();
  const runs = new Set<Run>();
  const active = new Set<Promise<void>>();
  let turn = 0;
  /** What the functions have answered so far: what they returned, and their steps. */
  const answers: string[] = [];

  const placeOf = ({ fn, event }: Run) => fn.concurrency?.[0]?.key && String(dataAt(event.data, fn.concurrency[0].key));
  const hasRoom = (run: Run) =>
    [...runs].filter((other) => other.isBusy && other.fn.id === run.fn.id && placeOf(other) === placeOf(run)).length <
    (run.fn.concurrency?.[0]?.limit ?? Number.POSITIVE_INFINITY);
  const isReady = ({ open }: Run) => open.size === 0 || [...open.values()].some(({ kind }) => kind === "planned");

  function route(event: Run["event"]): void {
    for (const fn of functions) {
      const isIts = fn.triggers.some(
        (trigger) =>
          trigger.event === event.name &&
          (!trigger.expression || trigger.expression.includes(String(dataAt(event.data, "event.data.function_id")))),
      );
      if (!isIts || seen.has(`${fn.id} ${event.id}`)) continue;
      seen.add(`${fn.id} ${event.id}`);
      runs.add({ fn, event, memo: new Map(), open: new Map(), attempt: 0, isBusy: false });
    }
    for (const run of runs)
      for (const [id, { event: name, expression = "" }] of run.open)
        if (name === event.name && dataAt(run.event.data, expression) === dataAt(event.data, expression)) settle(run, id, event);
  }
  const settle = (run: Run, id: string, data: unknown) => {
    run.open.delete(id);
    run.memo.set(id, { type: "data", data });
  };

  async function call(handler: Handler, run: Run, stepId: string): Promise<void> {
    const order = [...run.memo.keys()];
    const most = Object.values(run.fn.steps)[0]?.retries?.attempts ?? 3;
    const ctx = { run_id: run.event.id, fn_id: run.fn.id, attempt: run.attempt, max_attempts: most + 1, use_api: false };
    const body = {
      ...{ version: -1, event: run.event, events: [run.event], steps: Object.fromEntries(run.memo) },
      ctx: { ...ctx, disable_immediate_execution: run.open.size > 0, stack: { stack: order, current: order.length } },
    };
    const response = await handler(
      new Request(`http://inngest.test/api/inngest?fnId=${run.fn.id}&stepId=${stepId}`, {
        method: "POST",
        headers: { host: "inngest.test", "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    const text = await response.text();
    answers.push(text);
    const answer = JSON.parse(text || "null");
    const fail = (error: unknown) => {
      runs.delete(run);
      const data = { function_id: run.fn.id, run_id: run.event.id, error, event: run.event };
      if (run.event.name !== FAILED) route({ name: FAILED, id: `${run.event.id}-failed`, data });
    };
    const retry = (id: string, give: () => void) => {
      run.attempt += 1;
      if (run.attempt > most) give();
      else run.open.set(id, { kind: "retry" });
    };
    if (response.status === 200) return void runs.delete(run);
    if (response.status !== 206)
      return response.headers.get("x-inngest-no-retry") === "true" ? fail(answer) : retry("step", () => fail(answer));
    for (const { op, id, name = "", data, error, opts } of answer as Operation[]) {
      if (op === "RunComplete") runs.delete(run);
      else if (op === "StepRun") {
        settle(run, id, data ?? null);
        run.attempt = 0;
      } else if (op === "StepPlanned") run.open.set(id, { kind: "planned" });
      else if (op === "Sleep") run.open.set(id, { kind: "sleep" });
      else if (op === "WaitForEvent") run.open.set(id, { kind: "wait", event: name, expression: opts?.if ?? "" });
      else if (op === "StepFailed" || op === "StepError")
        retry(id, () => {
          run.open.delete(id);
          run.memo.set(id, { type: "error", error });
          run.attempt = 0;
        });
      else throw new Error(`This server does not know ${op}.`);
    }
  }

  async function drive(run: Run): Promise<void> {
    while (runs.has(run) && isReady(run)) {
      const handler = handlers[turn++ % handlers.length];
      if (!handler) break;
      const [planned] = [...run.open].flatMap(([id, { kind }]) => (kind === "planned" ? [id] : []));
      if (planned) run.open.delete(planned);
      await call(handler, run, planned ?? "step");
    }
  }
  function work(): void {
    if (functions.length) for (const event of events.splice(0)) route(event);
    for (const run of runs) {
      if (run.isBusy || !handlers.length || !isReady(run) || !hasRoom(run)) continue;
      run.isBusy = true;
      const driven = drive(run).finally(() => {
        run.isBusy = false;
        active.delete(driven);
        work();
      });
      active.add(driven);
    }
  }

  return {
    answers,
    async start(jobs: readonly Job[]) {
      const handler: Handler = serve({ client, functions: jobs.map((job) => functionOf(client, job)) });
      const answer = await handler(
        new Request("http://inngest.test/api/inngest", {
          method: "PUT",
          headers: { host: "inngest.test", "content-type": "application/json", "x-inngest-sync-kind": "in_band" },
          body: JSON.stringify({ url: "http://inngest.test/api/inngest" }),
        }),
      );
      ({ functions } = (await answer.json()) as { functions: Config[] });
      handlers.push(handler);
      work();
    },
    async stop() {
      handlers = [];
      await Promise.all(active);
    },
    async send(...some) {
      events.push(...some);
      work();
    },
    async hurry() {
      for (const run of runs)
        for (const [id, { kind }] of run.open) {
          if (kind === "retry") run.open.set(id, { kind: "planned" });
          else if (kind !== "planned") settle(run, id, null);
        }
      work();
    },
    async tick(jobs) {
      await this.start(jobs);
      await this.stop();
      const fn = functions.find(({ triggers }) => triggers.some(({ cron }) => cron === "* * * * *"));
      if (fn)
        runs.add({
          fn,
          event: { name: "inngest/scheduled.timer", id: "tick", data: {} },
          memo: new Map(),
          open: new Map(),
          attempt: 0,
          isBusy: false,
        });
    },
  };
}

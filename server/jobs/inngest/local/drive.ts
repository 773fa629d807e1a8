import { createHash } from "node:crypto";
import type pg from "pg";
import { type CallInput, callHandler, type StepRow } from "#server/jobs/inngest/local/call.ts";
import { retryAt } from "#server/jobs/inngest/local/clock.ts";
import { type Changes, errorText, type StepChange } from "#server/jobs/inngest/local/ops.ts";
import type { LocalFunction } from "#server/jobs/inngest/local/registry.ts";
import { applyUntilDone, type ClaimedRun, type Lease, type Write, type Written } from "#server/jobs/inngest/local/store.ts";
import { log } from "#server/platform/log.ts";

/**
 * How a function begins, for one that nearly always ends right after its first step: that step is then run without the SDK,
 * whose request, answer and replay cost more than a short step. Should it throw, the function is called as any other.
 */
export interface FirstStep {
  /** The step's name in the function. */
  name: string;
  /** @param data of the event; @returns what the step gives, and whether the function ends with nothing after it */
  run(data: unknown): Promise<{ result: unknown; isEnd: boolean }>;
}

export interface DriveContext {
  pool: pg.Pool;
  handler: (request: Request) => Promise<Response>;
  /** Milliseconds since 1970. */
  now(): number;
  owner: number;
  /** No new call is started; the run is given back after the current ones. */
  draining(): boolean;
  /** Of functions by their id. */
  firstSteps?: Readonly<Record<string, FirstStep>> | undefined;
  /** The leases were given up: results are of no use any more. */
  abandoned(): boolean;
}

/** The SDK's id of a step. */
const stepId = (name: string): string => createHash("sha1").update(name).digest("hex");

const isDue = (step: { state: string; due: number | null }, now: number): boolean => step.state === "planned" && (step.due ?? 0) <= now;

/** What is known of the run while its lease is held. */
function createMemory(rows: StepRow[]) {
  const memo = new Map<string, StepRow>();
  const open = new Map<string, { state: string; due: number | null; attempt: number; race: boolean }>();
  let seq = 0;
  const merge = (more: StepRow[]): void => {
    for (const row of more) {
      const [id, state, , attempt, due, race, order] = row;
      if (state === "data" || state === "error") {
        open.delete(id);
        memo.set(id, row);
        seq = Math.max(seq, order ?? 0);
      } else if (!memo.has(id)) open.set(id, { state, due, attempt, race });
    }
  };
  merge(rows);
  return { memo, open, merge, seq: () => seq };
}

/**
 * Carries a leased run on until nothing of it is due, then gives the lease back.
 * @returns when the run must be looked at again (ms since 1970), or null
 * @throws the database's error when it refuses a write (the lease then ends by itself)
 */
export async function drive(run: ClaimedRun, fn: LocalFunction, context: DriveContext): Promise<number | null> {
  const lease: Lease = { run: run.id, owner: context.owner, epoch: run.epoch };
  const memory = createMemory(run.steps ?? []);
  const width = fn.limits.length ? Math.min(...fn.limits.map((limit) => limit.limit)) : Number.POSITIVE_INFINITY;
  let attempt = run.attempt;
  let discover = run.discover;

  const write = (what: Omit<Write, "now">): Promise<Written> =>
    applyUntilDone(context.pool, lease, fn.id, run.event, { ...what, now: context.now() }, context.abandoned);

  const call = (stepId: string | undefined, attemptNo: number): Promise<Changes & { retryAfter: string | null }> => {
    const input: CallInput = {
      runId: run.id,
      fnId: fn.id,
      event: run.event,
      stepId,
      memo: memory.memo.values(),
      attempt: attemptNo,
      maxAttempts: fn.maxAttempts,
      planOnly: memory.open.size > 0,
      lease: `${lease.owner}.${lease.epoch}`,
    };
    return callHandler(context.handler, input, context.now);
  };

  /** Whether to go on after these changes or to let the run rest. */
  const next = (steps: StepChange[]): "keep" | "release" => {
    if (context.draining()) return "release";
    const open = new Map<string, { state: string; due: number | null }>(memory.open);
    let raced = false;
    for (const step of steps) {
      if (step.state === "data" || step.state === "error") {
        open.delete(step.id);
        raced ||= step.race ?? false;
      } else if (!open.has(step.id) || step.state === "planned") open.set(step.id, { state: step.state, due: step.due ?? null });
    }
    const now = context.now();
    return open.size === 0 || raced || [...open.values()].some((step) => isDue(step, now)) ? "keep" : "release";
  };

  async function callFunction(): Promise<Written> {
    const changes = await call(undefined, attempt);
    if (!changes.end && !changes.failed && changes.steps.length === 0 && memory.open.size === 0)
      changes.failed = { error: errorText("The function neither ended nor asked for anything.") };
    if (changes.end) return write({ mode: changes.end.status, steps: changes.steps, output: changes.end.output });
    if (changes.failed) {
      if (attempt + 1 >= fn.maxAttempts) return write({ mode: "failed", output: changes.failed.error });
      return write({ mode: "retry", steps: changes.steps, attempt: attempt + 1, due: retryAt(attempt, changes.retryAfter, context.now()) });
    }
    attempt = 0;
    return write({ mode: next(changes.steps), steps: changes.steps, discovered: true, after: memory.seq() });
  }

  /** Runs planned steps side by side. Each result is written when it is there; the last one also decides how to go on. */
  async function callSteps(ids: string[]): Promise<Written> {
    const waiting = [...ids];
    const writes: Promise<Written>[] = [];
    const all: StepChange[] = [];
    let running = 0;
    let last: Written | undefined;
    const push = (written: Promise<Written>): void => {
      // Its failure is met when all of them are awaited; until then it must not count as unhandled.
      written.catch(() => undefined);
      writes.push(written);
    };
    await new Promise<void>((resolve, reject) => {
      const one = async (id: string): Promise<void> => {
        const planned = memory.open.get(id);
        const attemptNo = planned?.attempt ?? 0;
        const changes = await call(id, attemptNo);
        const steps = changes.steps.map((step) => (step.id === id ? { ...step, race: planned?.race ?? false } : step));
        if (changes.failed && !changes.end) {
          if (attemptNo + 1 >= fn.maxAttempts) changes.end = { status: "failed", output: changes.failed.error };
          else
            steps.push({
              id,
              state: "planned",
              attempt: attemptNo + 1,
              due: retryAt(attemptNo, changes.retryAfter, context.now()),
              race: planned?.race ?? false,
            });
        }
        running--;
        if (changes.end) {
          push(write({ mode: changes.end.status, steps, output: changes.end.output }));
          waiting.length = 0;
        } else {
          all.push(...steps);
          if (running > 0 || (waiting.length > 0 && !context.draining())) push(write({ mode: "keep", steps }));
          else {
            await Promise.all(writes);
            last = await write({ mode: next(all), steps, after: memory.seq() });
          }
        }
        pump();
      };
      const pump = (): void => {
        if (context.draining()) waiting.length = 0;
        while (running < width && waiting.length) {
          running++;
          one(waiting.shift() ?? "").catch(reject);
        }
        if (running === 0) resolve();
      };
      pump();
    });
    const earlier = await Promise.all(writes);
    // An ended or lost run wins over what the others brought.
    return earlier.find((written) => written.status === "lost") ?? last ?? { status: "lost", next_due: null, steps: null, discover: null };
  }

  /** The first step of a run that nothing is known of yet, if it can be had without the SDK. */
  async function beginShort(first: FirstStep): Promise<Written | undefined> {
    const { data } = JSON.parse(run.event) as { data: unknown };
    const begun = await first.run(data).catch((err: unknown) => {
      log.debug({ err, run: run.id }, "the first step of a function failed, the function is called");
    });
    if (!begun) return undefined;
    if (begun.isEnd) return write({ mode: "completed", output: "null" });
    const steps: StepChange[] = [{ id: stepId(first.name), state: "data", data: JSON.stringify(begun.result ?? null) }];
    return write({ mode: next(steps), steps, discovered: true, after: memory.seq() });
  }

  if (run.crashes >= fn.maxAttempts) {
    const error = { name: "Error", message: "The process that ran this function ended each time before it could report.", stack: "" };
    await write({ mode: "failed", output: errorText(error) });
    return null;
  }
  for (;;) {
    const now = context.now();
    const due = [...memory.open].filter(([, step]) => isDue(step, now)).map(([id]) => id);
    let written: Written;
    if (context.draining()) written = await write({ mode: "release" });
    else if (due.length) written = await callSteps(due);
    else if (discover || memory.open.size === 0) {
      const first = memory.memo.size + memory.open.size + attempt === 0 ? context.firstSteps?.[fn.id] : undefined;
      written = (first && (await beginShort(first))) ?? (await callFunction());
    } else written = await write({ mode: "release" });
    // Only a write that kept the lease tells whether the function is to be called again.
    if (written.status === "lost" || written.steps === null) return written.next_due;
    memory.merge(written.steps);
    discover = written.discover ?? false;
  }
}

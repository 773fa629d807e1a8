import { NonRetriableError } from "inngest";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { engineServices } from "#server/jobs/engine-services.ts";
import type { Step } from "#server/jobs/job.ts";
import { carryRun, runWorkflow } from "#server/jobs/run-workflow.ts";
import { setSettings } from "#server/platform/settings.ts";

// The handler of runs, on steps whose results an Inngest server would have kept.

const MINUTE_MS = 60_000;
const data = { execution_id: "e", project_id: "p", dispatch: 7 };
const AT = "2026-03-01T12:00:00.000Z";
const later = (ms: number) => new Date(Date.parse(AT) + ms).toISOString();
const waiting = (run_at: string | null = null, more: object = {}) => ({ kind: "waiting", at: AT, run_at, ...more });
const yielded = { kind: "yielded" };
const over = { kind: "over", status: "completed" };

const continued = vi.spyOn(engineServices, "continueAsNew");
beforeEach(() => {
  continued.mockReset().mockResolvedValue(true);
});
afterEach(() => void vi.useRealTimers());

interface Play {
  /** Every step that the handler came to, with how long it sleeps or waits, in the order in which it came to them. */
  steps: Map<string, number | undefined>;
  result?: unknown;
}

/**
 * Plays a run of the function as an Inngest server does: the handler is called from its top for every step that is new, and finds
 * the results of those before.
 * @param outcomeOf what the n-th look at the run came to
 * @param isWoken whether the n-th wait ends with a wake, and not with its time
 */
async function play(outcomeOf: (n: number) => unknown, isWoken: (n: number) => boolean = () => false): Promise<Play> {
  const kept = new Map<string, unknown>();
  let before: [string, number | undefined][] = [];
  for (;;) {
    const steps: Play["steps"] = new Map();
    let hasNew = false;
    const come = async (id: string, ms: number | undefined, work: () => unknown): Promise<never> => {
      expect(steps.has(id), `${id} is there once`).toBe(false);
      steps.set(id, ms);
      if (kept.has(id)) return kept.get(id) as never;
      hasNew = true;
      // As JSON, as it would come back.
      kept.set(id, JSON.parse(JSON.stringify((await work()) ?? null)));
      return new Promise<never>(() => undefined);
    };
    const number = (id: string) => Number(id.split(" ").at(-1));
    const step: Step = {
      run: (id, work) =>
        come(id, undefined, () => (id.startsWith("advance") ? outcomeOf(number(id)) : id.startsWith("look") ? null : work())),
      sleep: (id, ms) => come(id, ms, () => null),
      sleepUntil: (id, at) => come(id, at.getTime(), () => null),
      waitForEvent: (id, { event, timeout }) => come(id, timeout, () => (isWoken(number(id)) ? { name: event.name } : null)),
      sendEvent: (id) => come(id, undefined, () => null),
    };
    const ended = carryRun({ event: { data }, step });
    const end = await Promise.race([ended, new Promise((resolve) => setImmediate(() => setImmediate(resolve, "paused")))]);
    // A replay comes to the same steps, for the same times, before it goes beyond them.
    expect([...steps].slice(0, before.length)).toEqual(before);
    if (!hasNew) return { steps, result: end };
    before = [...steps];
  }
}

const times = ({ steps }: Play, of: string) => [...steps].flatMap(([id, ms]) => (id.startsWith(of) ? [ms] : []));
const minutes = (played: Play) => times(played, "wake").map((ms) => Number(ms) / MINUTE_MS);

test("a wait for a decision is bounded, grows from a quarter of an hour to an hour, and begins anew when something has come", async () => {
  const outcomes = (n: number) => (n < 7 ? waiting() : over);
  const alone = await play(outcomes);
  expect(minutes(alone)).toEqual([15, 30, 60, 60, 60, 60, 60]);
  expect(alone.result).toEqual({ status: "completed" });
  expect(minutes(await play(outcomes, (n) => n === 2))).toEqual([15, 30, 60, 15, 30, 60, 60]);
  // It went on by itself in between.
  expect(minutes(await play((n) => (n === 2 ? yielded : outcomes(n))))).toEqual([15, 30, 15, 30, 60, 60]);
});

test("a wait lasts until the nearest deadline at most, in whole seconds, whatever the clock of the machine says", async () => {
  const deadlines = [later(20 * MINUTE_MS), later(20 * MINUTE_MS), later(90 * MINUTE_MS), later(61_200), later(40), later(-5000)];
  const expected = [15 * MINUTE_MS, 20 * MINUTE_MS, 60 * MINUTE_MS, 62_000, 1000, 1000];
  for (const now of [AT, "2025-01-01T00:00:00.000Z", "2031-01-01T00:00:00.000Z"]) {
    vi.useFakeTimers({ now: new Date(now), toFake: ["Date"] });
    const played = await play((n) => (n < deadlines.length ? waiting(deadlines[n]) : over));
    expect(times(played, "wake")).toEqual(expected);
  }
});

test("a wait grows to a day where the clocks agree", async () => {
  const played = await play((n) => (n < 9 ? waiting(null, { in_sync: true }) : over));

  expect(minutes(played)).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
});

test("a run that only waits for a time sleeps until then", async () => {
  const played = await play((n) => (n === 0 ? waiting(later(90 * MINUTE_MS), { is_time: true }) : over));

  expect([...played.steps.keys()]).toEqual(["advance 0", "sleep 0", "advance 1"]);
  expect(times(played, "sleep")).toEqual([Date.parse(later(90 * MINUTE_MS))]);
});

test("a time that has not come after the sleep is waited for by this clock", async () => {
  const played = await play((n) => (n < 3 ? waiting(later(5000), { is_time: true }) : over));

  expect(times(played, "sleep")).toHaveLength(1);
  expect(times(played, "wake")).toEqual([5000, 5000]);
});

test("a run that waits for a time among others is woken", async () => {
  const played = await play((n) => (n === 0 ? waiting(later(5000), { is_time: false }) : over));

  expect(times(played, "wake")).toEqual([5000]);
});

test("steps are displayed with labels only when the step before gave them", async () => {
  const names: (string | undefined)[] = [];
  const step = (labels?: string[]): Step => ({
    run: async (id, work, name) => {
      if (id.startsWith("look")) return undefined as never;
      names.push(name || id);
      return (id === "advance 0" ? waiting(null, { labels }) : id === "advance 1" ? over : await work()) as never;
    },
    sleep: async () => undefined,
    sleepUntil: async () => undefined,
    waitForEvent: async (id, { name }) => {
      names.push(name || id);
      return null;
    },
    sendEvent: async () => undefined,
  });
  await carryRun({ event: { data }, step: step() });
  await carryRun({ event: { data }, step: step(["Check", "Later"]) });

  expect(names).toEqual([
    ...["advance 0", "wake 0", "advance 1"],
    ...["advance 0", "wake 0: Check, Later", "advance 1 after Check, Later"],
  ]);
});

test("a run that another process holds is looked at again when its lease has ended, not sooner and not again and again", async () => {
  // The last one as a version kept it that said until when.
  const busy = [
    { kind: "busy", seconds: 12.2 },
    { kind: "busy", seconds: 0 },
    { kind: "busy", until: later(30_000) },
  ];
  const played = await play((n) => busy[n] ?? over);
  expect(times(played, "busy")).toEqual([13_000, 1000, 1000]);
  expect(times(played, "advance")).toHaveLength(4);
});

test("a request that a newer one has taken the place of ends, and asks for nothing", async () => {
  for (const outcome of [{ kind: "over", status: "running" }, { kind: "over" }]) {
    const { steps, result } = await play(() => outcome);
    expect([...steps.keys()]).toEqual(["advance 0"]);
    expect(result).toEqual("status" in outcome ? { status: "running" } : undefined);
  }
  expect(continued).not.toHaveBeenCalled();
});

test("a run that has failed is a failed function, which is not tried again and tells nothing of what happened", async () => {
  const failed = await play(() => ({ kind: "over", status: "failed" })).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(NonRetriableError);
  expect(failed).toMatchObject({ message: "The execution failed. Its page in Treadle tells why.", stack: "" });
});

test.each([
  ["yields again and again", yielded, 101],
  ["waits again and again", waiting(), 301],
  ["is held again and again", { kind: "busy", seconds: 1 }, 201],
])("a run that %s continues as a new request, long before a server's 1,000 steps", async (_, outcome, count) => {
  const { steps, result } = await play(() => outcome);
  expect(steps.size).toBe(count);
  expect([...steps.keys()].at(-1)).toBe("continue as new");
  expect(result).toBeUndefined();
  expect(continued.mock.calls).toEqual([[{ ...data, dispatch: 8 }]]);
});

test("a process that is told to stop leaves what comes next to a new request", async () => {
  const { drain } = engineServices;
  Object.assign(engineServices, { drain: AbortSignal.abort() });
  const { steps } = await play(() => yielded).finally(() => Object.assign(engineServices, { drain }));
  expect([...steps.keys()]).toEqual(["advance 0", "continue as new"]);
});

test("a server is told the limit of a project as it is when the functions are registered", () => {
  setSettings({ PROJECT_CONCURRENCY: "3" });
  expect(runWorkflow.concurrency).toEqual({ key: "event.data.project_id", limit: 3 });
});

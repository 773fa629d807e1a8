import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { advance } from "#server/engine/advance.ts";
import { ConditionHost } from "#server/engine/condition-host.ts";
import { type ConditionVariables, evaluateWith } from "#server/engine/conditions.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { memoryStore } from "#server/testing/memory-store.ts";

const TOO_LONG = "took too long, and was stopped";
/** Goes over its long text again and again, within one step of the sandbox. */
const HOSTILE = "re.findall('a*b|a', 'a' * 300000)";
const BIG_POWER = "7 ** 7 ** 9 > 1";

let host = new ConditionHost();
afterEach(() => {
  host.stop();
  host = new ConditionHost();
});

const { signal: never } = new AbortController();
const holds = async (condition: string, output = "", signal = never) => {
  const variables: ConditionVariables = { output, trigger_output: "", node_outputs: {} };
  return evaluateWith(condition, variables, (request) => host.run(request, signal));
};

/** Whether a process with this id runs; one that has ended but whose new parent has not looked yet does not. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  try {
    process.kill(pid, 0);
    return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await turn();
}

test("many conditions at a time all get their own answer, from one process", async () => {
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, number) => holds(`len(re.findall('a', output)) == ${number % 7}`, "aaa")),
  );
  expect(answers).toEqual(Array.from({ length: 300 }, (_, number) => number % 7 === 3));
  const { pid } = host;
  expect(await holds("2 ** 2 == 4")).toBe(true);
  expect(host.pid).toBe(pid);
});

test("a simple condition is answered at once, and starts no process", () => {
  const apart = () => expect.unreachable();
  expect(evaluateWith("'a' in output", { output: "abc", trigger_output: "", node_outputs: {} }, apart)).toBe(true);
});

test.each([HOSTILE, BIG_POWER])("%s is stopped while everything else goes on, and the next one gets its turn", async (condition) => {
  let turns = 0;
  let isOver = false;
  const hostile = holds(condition).then(
    () => "an answer",
    (error: Error) => error.message,
  );
  void hostile.then(() => (isOver = true));
  const next = holds("len(re.findall('a', output)) == 2", "banal");
  while (!isOver) {
    await turn();
    turns++;
  }
  expect(await hostile).toContain(TOO_LONG);
  expect(turns).toBeGreaterThan(100);
  expect(await next).toBe(true);
});

test("a condition whose process was killed from outside is run again", async () => {
  expect(await holds("2 ** 2 == 4")).toBe(true);
  const before = Number(host.pid);
  const answer = holds("2 ** 3 == 8");
  process.kill(before, "SIGKILL");
  expect(await answer).toBe(true);
  await untilGone(before);
  expect(await holds("2 ** 4 == 16")).toBe(true);
  expect(host.pid).not.toBe(before);
});

test("a condition that loses its process twice fails, and the one behind it does not", async () => {
  await holds("2 ** 2 == 4");
  const failing = holds(HOSTILE);
  const next = holds("2 ** 3 == 8");
  const first = Number(host.pid);
  process.kill(first, "SIGKILL");
  while (host.pid === first || host.pid === undefined || !host.isBusy) await turn();
  process.kill(host.pid, "SIGKILL");
  await expect(failing).rejects.toThrow("The condition ended its process");
  expect(await next).toBe(true);
});

test("a condition that takes too much memory within one step fails, and the one behind it does not", async () => {
  // Time enough, so that it is the memory which ends it.
  host = new ConditionHost(60_000);
  const failing = holds(String.raw`re.sub('(a+)', r'\1' * 10000, 'a' * 1000000) == ''`);
  const next = holds("2 ** 3 == 8");
  await expect(failing).rejects.toThrow("The condition ended its process");
  expect(await next).toBe(true);
});

test("only so many wait; one more is told so at once", async () => {
  const abort = new AbortController();
  const waiting = Array.from({ length: 1000 }, () => holds("2 ** 3 == 8", "", abort.signal));
  await expect(holds("2 ** 3 == 8")).rejects.toThrow("Too many conditions");
  abort.abort();
  expect((await Promise.allSettled(waiting)).every(({ status }) => status === "rejected")).toBe(true);
  expect(await holds("2 ** 3 == 8")).toBe(true);
});

test("a process with nothing to do is ended after a minute", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await holds("2 ** 3 == 8");
    const pid = Number(host.pid);
    vi.advanceTimersByTime(59_000);
    await turn();
    expect(host.pid).toBe(pid);
    vi.advanceTimersByTime(1000);
    await untilGone(pid);
    expect(host.pid).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test("whoever waits is let go by the signal, and is not run", async () => {
  const before = holds("2 ** 2 == 4");
  const abort = new AbortController();
  const waiting = holds(HOSTILE, "", abort.signal);
  const behind = holds("2 ** 3 == 8");
  abort.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
  expect(await Promise.all([before, behind])).toEqual([true, true]);
  await expect(holds("2 ** 2 == 4", "", abort.signal)).rejects.toThrow("cancelled");
});

test("it keeps no process alive, and ends with the one that started it, also in the middle of a condition", async () => {
  const program = `
    const { ConditionHost } = await import(${JSON.stringify(join(import.meta.dirname, "condition-host.ts"))});
    const { evaluateWith } = await import(${JSON.stringify(join(import.meta.dirname, "conditions.ts"))});
    const host = new ConditionHost();
    const { signal } = new AbortController();
    const variables = { output: "", trigger_output: "", node_outputs: {} };
    const alive = setInterval(() => {}, 1000);
    await evaluateWith("2 ** 2 == 4", variables, (request) => host.run(request, signal));
    process.stdout.write(String(host.pid));
    clearInterval(alive);
    if (process.argv[1] === "busy") {
      void evaluateWith(${JSON.stringify(HOSTILE)}, variables, (request) => host.run(request, signal));
      setImmediate(() => process.kill(process.pid, "SIGKILL"));
    }
  `;
  for (const mode of ["idle", "busy"]) {
    // In another folder: nothing depends on where the process was started.
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", program, mode], {
      cwd: "/",
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    parent.stdout.on("data", (data) => (said += data));
    const [code] = await once(parent, "close");
    expect(code).toBe(mode === "idle" ? 0 : null);
    expect(Number(said)).toBeGreaterThan(0);
    await untilGone(Number(said));
  }
});

const node = (id: string, type: string, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const branching = (condition: string): Graph => ({
  nodes: [node("t", "triggerNode"), node("b", "branchNode", { condition }), node("yes", "outputNode"), node("no", "outputNode")],
  edges: [
    { id: "1", source: "t", target: "b" },
    { id: "2", source: "b", target: "yes", sourceHandle: "true" },
    { id: "3", source: "b", target: "no", sourceHandle: "false" },
  ],
});

test("a run goes the way that a condition in the other process says, and fails with its sentence", async () => {
  const memory = memoryStore(branching("len(re.findall('a', output)) == 3"), { input: "banana" });
  expect(await advance(testServices(memory), "run", 0, 60)).toEqual({ kind: "over" });
  expect(memory.ending()).toMatchObject({ status: "completed", outputs: [expect.objectContaining({ node_id: "yes" })] });
  const failing = memoryStore(branching(HOSTILE), { input: "x" });
  await advance(testServices(failing), "run", 0, 60);
  expect(failing.ending()).toMatchObject({ status: "failed", error: expect.stringContaining(TOO_LONG) });
});

test("a run that is cancelled does not wait for its condition, and writes nothing more", async () => {
  const memory = memoryStore(branching("2 ** 2 == 4"), { input: "x" });
  const asked = Promise.withResolvers<void>();
  let renewals = 0;
  memory.store.renew = async () => {
    renewals++;
    return false;
  };
  let onControl = () => {};
  memory.store.onControl = async (_, callback) => {
    onControl = callback;
    return () => undefined;
  };
  const running = advance(
    testServices(memory, {
      // Answers only when it is told to stop waiting.
      evaluate: (_condition, _variables, signalOf) => {
        asked.resolve();
        const signal = signalOf();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    }),
    "run",
    0,
    60,
  );
  await asked.promise;
  onControl();
  expect(await running).toEqual({ kind: "yielded" });
  expect(renewals).toBe(1);
  expect(memory.rows().some((row) => row.node_id === "b")).toBe(false);
});

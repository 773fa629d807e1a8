import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { ChildPool, type JobOptions } from "#server/platform/children/pool.ts";
import type { ConditionAnswer, ConditionRequest } from "#server/workflow/condition-schema.ts";

/** Goes over its long text again and again, within one step of the sandbox. */
const HOSTILE = "re.findall('a*b|a', 'a' * 300000)";
const BIG_POWER = "7 ** 7 ** 9 > 1";
/** Grows to gigabytes within one step. */
const GROWING = String.raw`re.sub('(a+)', r'\1' * 10000, 'a' * 1000000) == ''`;

// The pool is tried with the program that it was made for first.
const newPool = (most = 3) =>
  new ChildPool<ConditionRequest, ConditionAnswer>("runs/effects/condition-process.ts", { most, heapMegabytes: 256, idleMs: 60_000 });
let pool = newPool();
afterEach(() => {
  pool.close();
  pool = newPool();
});

const never = () => new AbortController().signal;
const run = (condition: string, options: Partial<JobOptions> = {}, output = "") =>
  pool.run(
    { condition, variables: { output, trigger_output: "", node_outputs: {} } },
    { owner: "one", ms: 1000, megabytes: 128, signal: never, ...options },
  );
const yes = { answer: { holds: true } };

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
/** Leaves the processor to who is waited for. */
const turn = () => pause(1);
async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await turn();
}
const untilTrue = async (isSo: () => boolean) => {
  while (!isSo()) await turn();
};

test("many jobs at a time all get their own answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, number) => run(`len(re.findall('a', output)) == ${number % 7}`, {}, "aaa")),
  );
  expect(answers).toEqual(Array.from({ length: 300 }, (_, number) => ({ answer: { holds: number % 7 === 3 } })));
});

test("quick jobs, one after the other, need one process", async () => {
  const [first] = await Promise.all([run("2 ** 2 == 4"), untilTrue(() => pool.pids.length === 1)]);
  expect(first).toEqual(yes);
  const { pids } = pool;
  for (let number = 0; number < 50; number++) expect(await run("2 ** 2 == 4")).toEqual(yes);
  expect(pool.pids).toEqual(pids);
});

test.each([
  [HOSTILE, "time"],
  [BIG_POWER, "time"],
  [GROWING, "memory"],
])("%s is stopped for its %s while everything else goes on", async (condition, failure) => {
  let turns = 0;
  let isOver = false;
  // Time enough where it is the memory that is to end it.
  const hostile = run(condition, { ms: failure === "time" ? 1000 : 60_000 });
  void hostile.then(() => (isOver = true));
  while (!isOver) {
    await turn();
    turns++;
  }
  expect(await hostile).toEqual({ failure });
  expect(turns).toBeGreaterThan(10);
  expect(await run("2 ** 2 == 4")).toEqual(yes);
});

test("a process is killed soon after it has more than its job may take", async () => {
  const statusOf = (pid: number) => (existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "");
  const peakOf = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(statusOf(pid))?.[1] ?? 0) / 1024;
  await run("2 ** 2 == 4");
  const [pid = 0] = pool.pids;
  const before = peakOf(pid);
  let peak = 0;
  let isOver = false;
  const growing = run(GROWING, { ms: 60_000 }).finally(() => (isOver = true));
  while (!isOver) {
    peak = Math.max(peak, peakOf(pid));
    await pause(1);
  }
  expect(await growing).toEqual({ failure: "memory" });
  expect(peak - before).toBeLessThan(256);
});

test("while all of an owner's jobs are slow those of others are done", async () => {
  const abort = new AbortController();
  let over = 0;
  const endless = { owner: "hostile", ms: 60_000, signal: () => abort.signal };
  const hostile = Array.from({ length: 6 }, () => run(HOSTILE, endless).finally(() => over++));
  await untilTrue(() => pool.busy === 2);
  expect(await run("2 ** 2 == 4", { owner: "two" })).toEqual(yes);
  expect(await run("2 ** 3 == 8", { owner: "three" })).toEqual(yes);
  expect(over).toBe(0);
  abort.abort(new Error("enough"));
  for (const { status } of await Promise.allSettled(hostile)) expect(status).toBe("rejected");
});

test("owners take turns", async () => {
  pool = newPool(1);
  const order: string[] = [];
  const ask = (owner: string) => run("2 ** 2 == 4", { owner }).then(() => order.push(owner));
  await Promise.all([...Array.from({ length: 4 }, () => ask("busy")), ask("other"), ask("third")]);
  expect(order.indexOf("other")).toBeLessThan(3);
  expect(order.indexOf("third")).toBeLessThan(4);
});

test("a job whose process was killed from outside is done again", async () => {
  expect(await run("2 ** 2 == 4")).toEqual(yes);
  const [before = 0] = pool.pids;
  const answer = run("2 ** 3 == 8");
  process.kill(before, "SIGKILL");
  expect(await answer).toEqual(yes);
  await untilGone(before);
  expect(await run("2 ** 4 == 16")).toEqual(yes);
  expect(pool.pids).not.toContain(before);
});

test("a job that loses its process twice fails, and the one behind it does not", async () => {
  pool = newPool(1);
  await run("2 ** 2 == 4");
  const failing = run(HOSTILE, { ms: 60_000 });
  const next = run("2 ** 3 == 8");
  const [first = 0] = pool.pids;
  process.kill(first, "SIGKILL");
  await untilTrue(() => pool.busy === 1 && pool.pids[0] !== first);
  process.kill(Number(pool.pids[0]), "SIGKILL");
  expect(await failing).toEqual({ failure: "died" });
  expect(await next).toEqual(yes);
});

test("only so many of one owner wait; one more is told so at once, and another owner is not", async () => {
  const abort = new AbortController();
  const signal = () => abort.signal;
  const blocking = [run(HOSTILE, { ms: 60_000, signal }), run(HOSTILE, { ms: 60_000, signal })];
  await untilTrue(() => pool.busy === 2);
  const waiting = Array.from({ length: 1000 }, () => run("2 ** 3 == 8", { signal }));
  expect(await run("2 ** 3 == 8")).toEqual({ failure: "full" });
  expect(await run("2 ** 3 == 8", { owner: "two" })).toEqual(yes);
  abort.abort(new Error("cancelled"));
  for (const { status } of await Promise.allSettled([...blocking, ...waiting])) expect(status).toBe("rejected");
  expect(await run("2 ** 3 == 8")).toEqual(yes);
});

test("a process with nothing to do is ended after its time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    await run("2 ** 3 == 8");
    const [pid = 0] = pool.pids;
    vi.advanceTimersByTime(59_000);
    await turn();
    expect(pool.pids).toEqual([pid]);
    vi.advanceTimersByTime(62_000);
    await untilGone(pid);
    expect(pool.pids).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

test("whoever waits or takes long is let go by the signal", async () => {
  const abort = new AbortController();
  const signal = () => abort.signal;
  const running = run(HOSTILE, { signal, ms: 60_000 });
  await untilTrue(() => pool.busy === 1);
  const waiting = run(HOSTILE, { signal, ms: 60_000 });
  abort.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
  await expect(waiting).rejects.toThrow("cancelled");
  expect(await run("2 ** 3 == 8")).toEqual(yes);
});

test("it has nothing of our environment", async () => {
  process.env.BOOTSTRAP_PASSWORD = "a password of the start";
  try {
    await run("2 ** 2 == 4");
    expect(readFileSync(`/proc/${pool.pids[0]}/environ`, "utf8").split("\0").filter(Boolean)).toEqual([
      "NODE_ENV=production",
      expect.stringMatching(/^NODE_CHANNEL_FD=/),
      expect.stringMatching(/^NODE_CHANNEL_SERIALIZATION_MODE=/),
    ]);
  } finally {
    delete process.env.BOOTSTRAP_PASSWORD;
  }
});

test("without a process to be had nobody waits", async () => {
  pool = new ChildPool("engine/no-such-program.ts", { most: 2, heapMegabytes: 64, idleMs: 1000 });
  expect(await Promise.all([run("1"), run("2")])).toEqual([{ failure: "absent" }, { failure: "absent" }]);
});

test("it keeps no process alive, and ends with the one that started it, also in the middle of a job", async () => {
  const program = `
    const { ChildPool } = await import(${JSON.stringify(join(import.meta.dirname, "pool.ts"))});
    const pool = new ChildPool("runs/effects/condition-process.ts", { most: 2, heapMegabytes: 256, idleMs: 60_000 });
    const { signal } = new AbortController();
    const run = (condition) =>
      pool.run(
        { condition, variables: { output: "", trigger_output: "", node_outputs: {} } },
        { owner: "one", ms: 60_000, megabytes: 128, signal: () => signal },
      );
    const alive = setInterval(() => {}, 1000);
    await run("2 ** 2 == 4");
    process.stdout.write(String(pool.pids[0]));
    clearInterval(alive);
    if (process.argv[1] === "busy") {
      void run(${JSON.stringify(HOSTILE)});
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

import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { ConditionAnswer, ConditionRequest } from "#server/engine/conditions.ts";

// A program of its own, started by condition-host.ts: runs one risky condition at a time and answers over IPC. It may be killed
// at any moment. A step that the sandbox cannot stop stops this whole thread too, so a second thread watches the clock and the
// memory, and ends the process by itself when nobody outside is left to do it.

/** More than the host allows: only for when the host cannot see to it. */
const MOST_MS = 3000;
/** Everything that this process may hold, in bytes; the sandbox does not count what a single step takes. */
const MOST_BYTES = 512 * 1024 * 1024;
const TICK_MS = 10;

/** Sleeps while the number of turns is even: idle. While it is odd, kills the process when its time, its memory or its host is gone. */
function watch({ turns, host }: { turns: Int32Array<SharedArrayBuffer>; host: number }): never {
  parentPort?.postMessage("watching");
  for (;;) {
    const turn = Atomics.load(turns, 0);
    const until = performance.now() + MOST_MS;
    while (Atomics.wait(turns, 0, turn, turn % 2 === 0 ? Number.POSITIVE_INFINITY : TICK_MS) === "timed-out")
      if (performance.now() > until || process.memoryUsage.rss() > MOST_BYTES || process.ppid !== host)
        process.kill(process.pid, "SIGKILL");
  }
}

async function serve(): Promise<void> {
  // It ends with its host, not with a signal to the group that both are in: the host may still be ending its runs.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.on("disconnect", () => process.exit());
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const watcher = new Worker(import.meta.filename, { workerData: { turns, host: process.ppid } });
  const [{ Monty, MontyError }] = await Promise.all([import("@pydantic/monty"), once(watcher, "message")]);
  const nextTurn = () => {
    Atomics.add(turns, 0, 1);
    Atomics.notify(turns, 0);
  };
  const answer = ({ source, options, limits, inputs }: ConditionRequest): ConditionAnswer => {
    try {
      return { holds: new Monty(source, options).run({ inputs, limits, printCallback: () => undefined }) === true };
    } catch (error) {
      if (!(error instanceof MontyError)) throw error;
      const { typeName, message } = error.exception;
      return { exception: { typeName, message } };
    }
  };
  process.on("message", (request: ConditionRequest) => {
    nextTurn();
    const result = answer(request);
    nextTurn();
    process.send?.(result);
  });
  process.send?.("ready");
}

if (isMainThread) await serve();
else watch(workerData);

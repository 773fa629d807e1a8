import { parentPort, workerData } from "node:worker_threads";
import { ASLEEP, KIB, MEMORY_SIGNAL, MS, NEVER, TIME_SIGNAL, TURN } from "#server/platform/children/limits.ts";

// The thread that `serveJobs` starts beside its work.

const TICK_MS = 10;

function end(signal: NodeJS.Signals, state: Int32Array<SharedArrayBuffer>): void {
  try {
    process.kill(process.pid, signal);
  } catch {
    // a system that does not know this signal
  }
  Atomics.wait(state, NEVER, 0, 100);
  process.kill(process.pid, "SIGKILL");
}

/** Watches the jobs of a process, and kills it when the time or the memory of one is over, or its host is gone. Never returns. */
function watch(state: Int32Array<SharedArrayBuffer>, host: number): never {
  let watched = 0;
  let until = 0;
  for (;;) {
    const turn = Atomics.load(state, TURN);
    if (turn % 2 === 0) {
      Atomics.store(state, ASLEEP, 1);
      // Told before it slept: then it does not.
      if (Atomics.load(state, TURN) === turn) Atomics.wait(state, ASLEEP, 1);
      Atomics.store(state, ASLEEP, 0);
      continue;
    }
    if (turn !== watched) until = performance.now() + Atomics.load(state, MS);
    watched = turn;
    if (process.memoryUsage.rss() > Atomics.load(state, KIB) * 1024) end(MEMORY_SIGNAL, state);
    if (performance.now() > until) end(TIME_SIGNAL, state);
    if (process.ppid !== host) end("SIGKILL", state);
    Atomics.wait(state, NEVER, 0, TICK_MS);
  }
}

parentPort?.postMessage("watching");
watch(workerData.state, workerData.host);

import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { ProbeFigures } from "#e2e/bench/bounds/health-probe.ts";
import { beginPeak, memoryOf, peakOf } from "#e2e/bench/memory.ts";

/** Bounds that no request, run, save or export of one account may exceed on an otherwise idle process. */
export const BOUNDS = { delay_ms: 200, memory_mib: 150 };

/** Rest before and after an attack, in ms, in which the process settles. */
const REST_MS = 1500;

export interface Figures {
  max_delay_ms: number;
  /** Growth of the peak of resident memory over the memory before the attack, in MiB. */
  memory_mib: number;
}

/** Measures the delay of `GET /api/health` and the memory of a process while `attack` runs. */
export async function measureBounds(target: { url: string; pid: number }, attack: () => Promise<void>): Promise<Figures> {
  const probe = new Worker(join(import.meta.dirname, "health-probe.ts"), { workerData: { url: target.url, pid: target.pid } });
  const read = async (): Promise<ProbeFigures> => {
    probe.postMessage("read");
    const [figures] = await once(probe, "message");
    return figures;
  };
  try {
    await once(probe, "online");
    await pause(REST_MS);
    await read();
    const before = memoryOf(target.pid);
    beginPeak(target.pid);
    await attack();
    await pause(REST_MS);
    const { max_delay_ms, probes } = await read();
    if (probes === 0) throw new Error("The process answered no health request while the attack ran.");
    return { max_delay_ms, memory_mib: peakOf(target.pid) - before };
  } finally {
    probe.postMessage("stop");
    await probe.terminate();
  }
}

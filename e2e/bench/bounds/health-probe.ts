import { request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { memoryOf } from "#e2e/bench/memory.ts";

// Runs in a worker thread, so that building an attack's body does not delay the measurement.

/** Time between two probes, in ms. */
const PROBE_MS = 25;

interface ProbeTarget {
  url: string;
  pid: number;
}

/** Figures of the time since the previous message. */
export interface ProbeFigures {
  /** Longest time from the moment at which a probe was due to its answer, in ms. */
  max_delay_ms: number;
  probes: number;
  /** Resident memory of the process, in MiB. */
  memory_mib: number;
}

const { url, pid } = workerData as ProbeTarget;
let open = new Set<number>();
let longest = 0;
let probes = 0;

function probe(): void {
  const due = performance.now();
  open.add(due);
  const end = () => {
    open.delete(due);
    probes++;
    longest = Math.max(longest, performance.now() - due);
  };
  request(`${url}/api/health`, { agent: false }, (response) => response.resume().once("end", end))
    .once("error", end)
    .end();
}

const timer = setInterval(probe, PROBE_MS);
parentPort?.on("message", (message: "read" | "stop") => {
  if (message === "stop") {
    clearInterval(timer);
    parentPort?.close();
    return;
  }
  // A probe without an answer counts with the time that it has waited so far.
  const waiting = Math.max(0, ...[...open].map((due) => performance.now() - due));
  const figures: ProbeFigures = { max_delay_ms: Math.max(longest, waiting), probes, memory_mib: memoryOf(pid) };
  longest = 0;
  probes = 0;
  open = new Set(open);
  parentPort?.postMessage(figures);
});

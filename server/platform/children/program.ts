import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ASLEEP, KIB, LENGTH, MS, TURN } from "#server/platform/children/limits.ts";
import { Receiver, type Sent, sendInPieces } from "#server/platform/children/messages.ts";

// The side of a job's process (pool.ts is the other one).

/** A job on its way to the process, with its limits in milliseconds and MiB. */
export interface ToChild<Request> {
  request: Request;
  ms: number;
  megabytes: number;
}

/** What comes back; `isSpent`: the process holds so much by now that the next job should have a new one. */
export type FromChild<Answer> = "ready" | { answer: Answer; isSpent: boolean };

/** A job this quick cannot have grown the process by much: asking how large it is would take longer. In milliseconds. */
const QUICK_MS = 5;
const LOOK_EVERY = 100;

/**
 * Does jobs, one at a time, until the process that asked for it is gone. A second thread watches the clock and the memory and
 * kills this process by a signal: a step that takes too long or too much stops this thread too.
 * @param work must not throw: what a job's author did wrong is an answer
 */
export async function serveJobs<Request, Answer>(work: (request: Request) => Answer | Promise<Answer>): Promise<void> {
  // It ends with its host, not with a signal to the group that both are in: the host may still be ending its runs.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.on("disconnect", () => process.exit());
  const state = new Int32Array(new SharedArrayBuffer(LENGTH * Int32Array.BYTES_PER_ELEMENT));
  const watcher = new Worker(new URL("./watch-thread.ts", import.meta.url), { workerData: { state, host: process.ppid } });
  await once(watcher, "message");
  const own = process.memoryUsage.rss();
  let jobs = 0;
  const nextTurn = () => {
    Atomics.add(state, TURN, 1);
    if (Atomics.exchange(state, ASLEEP, 0) === 1) Atomics.notify(state, ASLEEP);
  };
  const receiver = new Receiver<ToChild<Request>>();
  process.on("message", async (sent: Sent<ToChild<Request>>) => {
    const received = receiver.take(sent);
    if (!received) return;
    const { request, ms, megabytes } = received;
    const began = performance.now();
    Atomics.store(state, MS, ms);
    Atomics.store(state, KIB, Math.ceil(own / 1024) + megabytes * 1024);
    nextTurn();
    const answer = await work(request);
    nextTurn();
    const isLookedAt = performance.now() - began > QUICK_MS || ++jobs % LOOK_EVERY === 0;
    const isSpent = isLookedAt && process.memoryUsage.rss() - own > (megabytes / 2) * 1024 * 1024;
    await sendInPieces<FromChild<Answer>>(process, { answer, isSpent });
  });
  await sendInPieces<FromChild<Answer>>(process, "ready");
}

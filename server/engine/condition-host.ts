import { type ChildProcess, fork } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ConditionAnswer, type ConditionRequest, evaluateWith } from "#server/engine/conditions.ts";
import { type EngineServices, HostFault } from "#server/engine/ports.ts";

// Risky conditions run in one process of their own, which is killed when a condition takes too long. Apart from conditions.ts,
// because that is also loaded where nothing runs.

/** For one condition, in milliseconds: ten times what the sandbox gives it, and then nothing but killing helps. */
const RUN_MS = 1000;
/** For the start of the process, on a machine with a lot to do. */
const START_MS = 10_000;
/** A process with nothing to do is ended after this time. */
const IDLE_MS = 60_000;
/** A run waits for one condition at a time, so this is as many runs. */
const MOST_WAITING = 1000;
/** Starts of one condition: its process may die for a reason that is not the condition's. */
const TRIES = 2;
const MEMORY_MB = 128;
/** Beside this file, wherever the process was started. */
const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "condition-process.ts");

interface Job {
  request: ConditionRequest;
  tries: number;
  settle: PromiseWithResolvers<ConditionAnswer>;
}

/** The process that risky conditions run in: started when one comes, one condition at a time, in the order they came. */
export class ConditionHost {
  #child: ChildProcess | undefined;
  #isReady = false;
  #current: Job | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #failedStarts = 0;
  readonly #waiting: Job[] = [];
  readonly #runMs: number;

  constructor(runMs = RUN_MS) {
    this.#runMs = runMs;
  }

  /** The process's id, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether a condition is with the process now. */
  get isBusy(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Runs a condition when its turn comes.
   * @param signal stops waiting for it
   * @throws Error with a sentence for the author of the workflow; HostFault when no process can be started; the signal's reason
   */
  async run(request: ConditionRequest, signal: AbortSignal): Promise<ConditionAnswer> {
    signal.throwIfAborted();
    if (this.#waiting.length >= MOST_WAITING) throw new Error("Too many conditions like this one wait for their turn. Run it again later.");
    const job: Job = { request, tries: 0, settle: Promise.withResolvers() };
    const giveUp = () => {
      const index = this.#waiting.indexOf(job);
      if (index >= 0) this.#waiting.splice(index, 1);
      job.tries = TRIES;
      job.settle.reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting.push(job);
    this.#next();
    try {
      return await job.settle.promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** Ends the process, and with it the condition that runs there; the next one starts a new process. */
  stop(): void {
    this.#fail("The condition was stopped.");
  }

  #kill(): void {
    const child = this.#child;
    this.#child = undefined;
    this.#isReady = false;
    clearTimeout(this.#alarm);
    this.#alarm = undefined;
    child?.kill("SIGKILL");
  }

  #next(): void {
    if (this.#current) return;
    if (this.#waiting.length === 0) {
      if (this.#isReady) this.#after(IDLE_MS, () => this.#kill());
      return;
    }
    if (!this.#child) this.#start();
    if (!this.#isReady) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#current = job;
    job.tries++;
    this.#after(this.#runMs, () => this.#fail("The condition took too long, and was stopped. Make it simpler, or its texts shorter."));
    // When it cannot be sent the process is gone, and its exit says so.
    this.#child?.send(job.request, () => undefined);
  }

  #start(): void {
    const child = this.#fork();
    if (!child) return;
    this.#child = child;
    child.unref();
    child.channel?.unref();
    const isOurs = () => child === this.#child;
    child.on("message", (message: "ready" | ConditionAnswer) => isOurs() && this.#hear(message));
    child.on("exit", () => isOurs() && this.#died());
    child.on("error", (cause) => isOurs() && !this.#isReady && this.#failAll(cause));
    this.#after(START_MS, () => this.#failAll());
  }

  #fork(): ChildProcess | undefined {
    try {
      return fork(PROGRAM, [], {
        // Nothing of ours: what runs there can read no secret from its environment, and what it prints goes nowhere.
        env: { NODE_ENV: "production" },
        execArgv: [`--max-old-space-size=${MEMORY_MB}`],
        stdio: ["ignore", "ignore", "ignore", "ipc"],
        serialization: "advanced",
      });
    } catch (cause) {
      this.#failAll(cause);
      return undefined;
    }
  }

  #hear(message: "ready" | ConditionAnswer): void {
    if (message === "ready") {
      this.#isReady = true;
      this.#failedStarts = 0;
    } else {
      this.#current?.settle.resolve(message);
      this.#current = undefined;
    }
    this.#next();
  }

  /** Killed from outside, or for the memory it took: what ran there is run once more, for it may not have been the reason. */
  #died(): void {
    this.#kill();
    const job = this.#current;
    if (!job) {
      if (this.#waiting.length && ++this.#failedStarts >= TRIES) this.#failAll();
    } else if (job.tries >= TRIES)
      this.#fail("The condition ended its process, most likely because it took too much memory. Make it simpler.");
    else {
      this.#current = undefined;
      this.#waiting.unshift(job);
    }
    this.#next();
  }

  #fail(sentence: string): void {
    this.#current?.settle.reject(new Error(sentence));
    this.#current = undefined;
    this.#kill();
    this.#next();
  }

  /** There is no process to be had: nobody waits for one. */
  #failAll(cause?: unknown): void {
    this.#failedStarts = 0;
    for (const job of this.#waiting.splice(0))
      job.settle.reject(new HostFault("The process for conditions could not be started.", { cause }));
    this.#kill();
  }

  /** Sets the one alarm, in place of the one before. An answer that is there already comes first, however late this thread is. */
  #after(ms: number, act: () => void): void {
    clearTimeout(this.#alarm);
    const alarm = setTimeout(() => setImmediate(() => alarm === this.#alarm && act()), ms).unref();
    this.#alarm = alarm;
  }
}

const host = new ConditionHost();

/**
 * Whether a condition holds: at once for most, as a promise for one that runs in a process of its own (condition-risks.ts).
 * @throws Error with a sentence for the author of the workflow; HostFault when that process cannot be started
 */
export const evaluateCondition: EngineServices["evaluate"] = (condition, variables, signal) =>
  evaluateWith(condition, variables, (request) => host.run(request, signal()));

import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { MEMORY_SIGNAL, TIME_SIGNAL } from "#server/platform/children/limits.ts";
import { Receiver, type Sent, sendInPieces } from "#server/platform/children/messages.ts";
import type { FromChild, ToChild } from "#server/platform/children/program.ts";

// What strangers write (conditions, pages, files) is worked on in processes of their own: a single step of a library can take
// minutes or gigabytes, and then nothing but killing helps. A thread would not do, since it shares the memory of this process.

export interface PoolOptions {
  /** Processes at once. The first starts with the first job, a further one when all others have long been busy. */
  most: number;
  /** Of JavaScript's own memory, in MiB: more than a job may take, since collecting garbage near this bound takes very long. */
  heapMegabytes: number;
  /** A process that nobody has asked for anything this long is ended. */
  idleMs: number;
}

export interface JobOptions {
  /** Whose job it is: owners take turns, and none has every process. */
  owner: string;
  /** From the beginning of the work, in milliseconds. */
  ms: number;
  /** What the process may hold beyond what it had when it was new, in MiB. */
  megabytes: number;
  /** Ends the job. Asked for only when the job takes long, since making one costs more than a quick job. */
  signal(): AbortSignal;
}

/**
 * Why there is no answer: the process was killed for its time or its memory; it died twice, for no reason that is known; too
 * many jobs of this owner wait; no process can be started.
 */
export type JobFailure = "time" | "memory" | "died" | "full" | "absent";
export type Outcome<Answer> = { answer: Answer } | { failure: JobFailure };

/** From when on a job counts as slow, in milliseconds: a further process takes over what waits. */
const SLOW_MS = 20;
/** For starting a process on the busiest machine. */
const START_MS = 120_000;
/** The process ends itself when its time is over. Only one that cannot is killed from here, this much later. */
const GRACE_MS = 10_000;
/** Jobs of one owner that may wait. */
const MOST_WAITING = 1000;
/** Starts of one job: its process may die for a reason that is not the job's. */
const TRIES = 2;

interface Job<Request, Answer> extends JobOptions {
  request: Request;
  tries: number;
  began: number;
  /** Stops listening to the signal; undefined while nobody does. */
  unheed?: () => void;
  settle: PromiseWithResolvers<Outcome<Answer>>;
}

interface Child<Request, Answer> {
  process: ChildProcess;
  isReady: boolean;
  isSlow: boolean;
  job: Job<Request, Answer> | undefined;
  /** When it was started, or had its last job. */
  since: number;
}

/** The folder `server`. */
const SERVER = join(import.meta.dirname, "../..");

/** Processes that run one program (`serveJobs`), one job at a time each. */
export class ChildPool<Request, Answer> {
  readonly #program: string;
  readonly #options: PoolOptions;
  readonly #children = new Set<Child<Request, Answer>>();
  /** By owner, whose turn is next first. */
  readonly #waiting = new Map<string, Job<Request, Answer>[]>();
  #timer: NodeJS.Timeout | undefined;
  #isWatching = false;
  #failedStarts = 0;

  /** @param program its file, below the folder `server` */
  constructor(program: string, options: PoolOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Ids of the processes that there are now. */
  get pids(): number[] {
    return [...this.#children].flatMap(({ process: { pid } }) => pid ?? []);
  }

  /** How many jobs are under way. */
  get busy(): number {
    return [...this.#children].filter(({ job }) => job).length;
  }

  /**
   * Has a job done when its turn comes.
   * @throws the signal's reason
   */
  async run(request: Request, options: JobOptions): Promise<Outcome<Answer>> {
    const queue = this.#waiting.get(options.owner) ?? [];
    if (queue.length >= MOST_WAITING) return { failure: "full" };
    const job: Job<Request, Answer> = { ...options, request, tries: 0, began: 0, settle: Promise.withResolvers() };
    queue.push(job);
    if (queue.length === 1) this.#waiting.set(options.owner, queue);
    this.#next();
    if (!this.#isWatching) this.#watch();
    try {
      return await job.settle.promise;
    } finally {
      job.unheed?.();
    }
  }

  /** Ends every process; whoever waits is told that there is none. */
  close(): void {
    for (const child of this.#children) this.#end(child, "absent");
    this.#failWaiting();
    clearTimeout(this.#timer);
    this.#isWatching = false;
  }

  /** Whose turn it is: the first in line who has not got every process but one. */
  #nextOwner(): string | undefined {
    const each = Math.max(1, this.#options.most - 1);
    for (const owner of this.#waiting.keys()) {
      let running = 0;
      for (const { job } of this.#children) if (job?.owner === owner) running++;
      if (running < each) return owner;
    }
    return undefined;
  }

  /** The job whose turn it is; its owner goes to the end of the line. */
  #take(): Job<Request, Answer> | undefined {
    const owner = this.#nextOwner();
    const queue = owner === undefined ? undefined : this.#waiting.get(owner);
    const job = queue?.shift();
    if (owner === undefined || !queue) return undefined;
    this.#waiting.delete(owner);
    if (queue.length) this.#waiting.set(owner, queue);
    return job;
  }

  #putBack(job: Job<Request, Answer>): void {
    const queue = this.#waiting.get(job.owner) ?? [];
    queue.unshift(job);
    this.#waiting.set(job.owner, queue);
  }

  #next(): void {
    for (const child of this.#children) {
      if (this.#waiting.size === 0) return;
      if (!child.isReady || child.job) continue;
      const job = this.#take();
      if (!job) return;
      this.#give(child, job);
    }
    if (this.#waiting.size === 0 || this.#children.size >= this.#options.most) return;
    for (const { isSlow } of this.#children) if (!isSlow) return;
    if (this.#nextOwner() !== undefined) this.#start();
  }

  #give(child: Child<Request, Answer>, job: Job<Request, Answer>): void {
    child.job = job;
    job.tries++;
    job.began = performance.now();
    const message: ToChild<Request> = { request: job.request, ms: job.ms, megabytes: job.megabytes };
    const isOver = () => child.job !== job || !this.#children.has(child);
    void sendInPieces(child.process, message, isOver).then(() => {
      // Its time begins when all of it is there.
      if (!isOver()) job.began = performance.now();
    });
  }

  #start(): void {
    let started: ChildProcess;
    try {
      started = fork(join(SERVER, this.#program), [], {
        // Nothing of ours: what runs there can read no secret from its environment, and what it prints goes nowhere.
        env: { NODE_ENV: "production" },
        execArgv: [`--max-old-space-size=${this.#options.heapMegabytes}`],
        stdio: ["ignore", "ignore", "ignore", "ipc"],
        serialization: "advanced",
      });
    } catch {
      this.#failWaiting();
      return;
    }
    const child: Child<Request, Answer> = { process: started, isReady: false, isSlow: false, job: undefined, since: performance.now() };
    this.#children.add(child);
    started.unref();
    started.channel?.unref();
    const receiver = new Receiver<FromChild<Answer>>();
    started.on("message", (sent: Sent<FromChild<Answer>>) => {
      const message = receiver.take(sent);
      if (message) this.#hear(child, message);
    });
    started.once("exit", (code, signal) => this.#ended(child, code, signal));
    started.once("error", () => !child.isReady && this.#ended(child, null, null));
  }

  #hear(child: Child<Request, Answer>, message: FromChild<Answer>): void {
    if (message === "ready") {
      child.isReady = true;
      this.#failedStarts = 0;
    } else {
      child.job?.settle.resolve({ answer: message.answer });
      child.job = undefined;
      child.isSlow = false;
      child.since = performance.now();
      if (message.isSpent) this.#end(child, "died");
    }
    this.#next();
  }

  #ended(child: Child<Request, Answer>, code: number | null, signal: NodeJS.Signals | null): void {
    if (!this.#children.delete(child)) return;
    const { job } = child;
    if (!job) {
      if (!child.isReady && ++this.#failedStarts >= TRIES) this.#failWaiting();
    } else if (signal === TIME_SIGNAL) job.settle.resolve({ failure: "time" });
    // V8 aborts the process when its own memory is full.
    else if (signal === MEMORY_SIGNAL || signal === "SIGABRT" || code === 134) job.settle.resolve({ failure: "memory" });
    else if (job.tries >= TRIES) job.settle.resolve({ failure: "died" });
    else this.#putBack(job);
    this.#next();
  }

  #end(child: Child<Request, Answer>, failure: JobFailure): void {
    this.#children.delete(child);
    child.process.kill("SIGKILL");
    child.job?.settle.resolve({ failure });
  }

  /** There is no process to be had: nobody waits for one. */
  #failWaiting(): void {
    this.#failedStarts = 0;
    const jobs = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const job of jobs) job.settle.resolve({ failure: "absent" });
  }

  /** Looks after the jobs while there are any, and after processes with nothing to do. */
  #watch(): void {
    clearTimeout(this.#timer);
    this.#isWatching = this.#waiting.size > 0 || this.busy > 0;
    if (this.#isWatching || this.#children.size > 0)
      this.#timer = setTimeout(() => this.#look(), this.#isWatching ? SLOW_MS : this.#options.idleMs).unref();
  }

  #look(): void {
    const now = performance.now();
    for (const child of this.#children) {
      const { job } = child;
      if (job && now - job.began >= SLOW_MS) {
        child.isSlow = true;
        this.#heed(job);
      }
      const isOverdue = job ? now - job.began > job.ms + GRACE_MS : !child.isReady && now - child.since > START_MS;
      // An answer that is there already comes first, however late this thread is.
      if (isOverdue) setImmediate(() => child.job === job && this.#children.has(child) && this.#overdue(child));
      else if (!job && child.isReady && now - child.since >= this.#options.idleMs) this.#end(child, "died");
    }
    for (const queue of [...this.#waiting.values()]) for (const job of [...queue]) this.#heed(job);
    this.#next();
    this.#watch();
  }

  #overdue(child: Child<Request, Answer>): void {
    if (!child.job && child.isReady) return;
    this.#end(child, "time");
    if (!child.isReady) this.#failWaiting();
    this.#next();
  }

  /** Listens to what ends a job. */
  #heed(job: Job<Request, Answer>): void {
    if (job.unheed) return;
    const signal = job.signal();
    const giveUp = () => {
      job.settle.reject(signal.reason);
      this.#drop(job);
    };
    job.unheed = () => signal.removeEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  }

  #drop(job: Job<Request, Answer>): void {
    const queue = this.#waiting.get(job.owner);
    const at = queue?.indexOf(job) ?? -1;
    if (queue && at >= 0) queue.splice(at, 1);
    if (queue?.length === 0) this.#waiting.delete(job.owner);
    for (const child of this.#children) if (child.job === job) this.#end(child, "died");
    this.#next();
  }
}

const pools = new Map<string, unknown>();

/**
 * The pool of this process that runs a program for one kind of jobs, the same for whoever asks.
 * @param kind jobs that may take much longer than others of the program have a pool of their own, or the others wait behind them
 */
export function childPool<Request, Answer>(program: string, options: PoolOptions, kind = ""): ChildPool<Request, Answer> {
  const name = `${program} ${kind}`;
  const pool = pools.get(name) ?? new ChildPool<Request, Answer>(program, options);
  pools.set(name, pool);
  return pool as ChildPool<Request, Answer>; // cast: a program takes and gives one kind of message
}

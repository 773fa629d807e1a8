import { AsyncResource } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { subscribe } from "#server/platform/db/notify.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";
import { type LocalWorker, registerWorker } from "#server/runs/local-worker.ts";
import type { Claim, EngineServices } from "#server/runs/ports.ts";
import { claimDue, type DueRuns } from "#server/runs/store/leases.ts";

type Due = DueRuns["runs"][number];

/** How long the worker waits after it could not look, in milliseconds. */
const AGAIN_MS = 1000;

/**
 * How long a process must have been up before it takes a suspect, in milliseconds. Whatever ends processes faster than that is no
 * run, or one that others need not wait for.
 */
const SETTLED_MS = 5000;

/** Executes a run whose lease has been taken, for one segment. */
export type ExecuteDue = (run: Due, claim: () => Promise<Claim>) => Promise<void>;

/**
 * What executes runs in this process: those that begin where they are accepted, and, unless an Inngest server does, those that
 * are due. Runs that work outside of it share WORKER_CONCURRENCY slots; pure ones that begin here have as many of their own,
 * so that they wait for no model. How many of a project are under way at once is counted in the database, by its leases.
 */
class RunWorker implements LocalWorker {
  readonly services: EngineServices;
  readonly held = new Set<string>();
  readonly #executeDue: ExecuteDue;
  readonly #slots = settings().WORKER_CONCURRENCY;
  /** What a stop waits for: runs under way, and a look for others, which may just be taking some. */
  readonly #active = new Set<Promise<void>>();
  // Whoever accepts a run may be answering a web request; the run is none of that request's business.
  readonly #apart = AsyncResource.bind((work: () => Promise<void>) => work());
  /** Runs under way: pure ones that began here, and all others. */
  #pure = 0;
  #others = 0;
  /** Slots that a look under way may fill. */
  #wanted = 0;
  #isLooking = false;
  #mustLookAgain = false;
  /** True when runs were due for which no slot was free: whoever frees one looks for them. */
  #hasMore = false;
  #isSettled = false;
  #isStopped = false;
  /** True while it executes a suspect. */
  #hasSuspect = false;
  readonly #settling: NodeJS.Timeout;

  constructor(services: EngineServices, executeDue: ExecuteDue) {
    this.services = services;
    this.#executeDue = executeDue;
    this.#settling = setTimeout(() => {
      this.#isSettled = true;
      this.poke();
    }, SETTLED_MS).unref();
  }

  get #isDraining(): boolean {
    return this.#isStopped || (this.services.drain?.aborted ?? false);
  }

  #free(): number {
    return this.#isDraining || !isEmbeddedExecutor() ? 0 : this.#slots - this.#others - this.#wanted;
  }

  reserve(hasEffects: boolean): ((work: () => Promise<void>) => void) | undefined {
    if (this.#isDraining || (hasEffects ? this.#free() <= 0 : this.#pure >= this.#slots)) return undefined;
    return (work) => this.#run(hasEffects, work);
  }

  #run(hasEffects: boolean, work: () => Promise<void>): void {
    if (hasEffects) this.#others++;
    else this.#pure++;
    const done = this.#apart(work)
      .catch((err: unknown) => log.error({ err }, "a run was left behind, and is tried again"))
      .finally(() => {
        this.#active.delete(done);
        if (hasEffects) this.#others--;
        else this.#pure--;
        if (this.#hasMore) this.poke();
      });
    this.#active.add(done);
  }

  hasFreeSlot(): boolean {
    return this.#free() > 0;
  }

  poke(): boolean {
    if (this.#isDraining || !isEmbeddedExecutor()) return false;
    this.#mustLookAgain = true;
    if (!this.#isLooking) {
      const done = this.#look().finally(() => this.#active.delete(done));
      this.#active.add(done);
    }
    return this.hasFreeSlot();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#mustLookAgain) {
        this.#mustLookAgain = false;
        this.#hasMore ||= this.#free() <= 0;
        if (this.#free() > 0) await this.#takeDue();
      }
    } catch (err) {
      log.warn({ err }, "runs that are due could not be looked for, trying again");
      setTimeout(() => this.poke(), AGAIN_MS).unref();
    } finally {
      this.#isLooking = false;
    }
  }

  /** Half of what is free: the other half is for runs that begin here meanwhile. What is left over is looked for next. */
  async #takeDue(): Promise<void> {
    this.#wanted = Math.ceil(this.#free() / 2);
    try {
      const { runs, hasMore } = await claimDue(this.#wanted, this.held, this.#isSettled && !this.#hasSuspect);
      this.#hasMore = hasMore;
      this.#mustLookAgain ||= hasMore && runs.length > 0;
      this.#wanted = 0;
      for (const run of runs) this.#run(true, () => this.#executeClaimed(run));
    } finally {
      this.#wanted = 0;
    }
  }

  async #executeClaimed(run: Due): Promise<void> {
    this.held.add(run.holder);
    if (run.isSuspect) this.#hasSuspect = true;
    try {
      await this.#executeDue(run, run.claim);
    } finally {
      this.held.delete(run.holder);
      if (run.isSuspect) this.#hasSuspect = false;
      // What it yielded is due again.
      this.#hasMore = true;
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#settling);
    const ended = async () => {
      while (this.#active.size) await Promise.allSettled(this.#active);
    };
    await Promise.race([ended(), pause(graceMs, undefined, { ref: false })]);
  }
}

/**
 * Begins to execute runs in this process.
 * @param pool of the database whose runs they are
 * @returns how to stop, after the services were told to drain; resolves when what was begun has ended or was given back, within `graceMs`
 */
export async function startRunWorker(
  pool: pg.Pool,
  services: EngineServices,
  executeDue: ExecuteDue,
): Promise<(graceMs: number) => Promise<void>> {
  const worker = new RunWorker(services, executeDue);
  const retract = registerWorker(pool, worker);
  const unsubscribe = isEmbeddedExecutor() ? await subscribe("treadle_due", "", () => worker.poke()) : undefined;
  worker.poke();
  return async (graceMs) => {
    retract();
    unsubscribe?.();
    await worker.stop(graceMs);
  };
}

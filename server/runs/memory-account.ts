import { getHeapStatistics } from "node:v8";
import { settings } from "#server/platform/settings.ts";

/** Part of the heap that runs share. One run may hold as much again, and large writes are made of copies. */
const HEAP_SHARE = 0.3;
/** Bytes that a run may always hold: at most this, and less where the limit is small or the slots are many. */
const MAX_ALLOWANCE = 4 * 1024 * 1024;
/** Interval at which all runs are measured again, in ms. */
const MEASURE_MS = 1000;
/** Interval at which a deferred run is tried again, in seconds. It grows with the number of deferred runs. */
const RETRY_SECONDS = 2;
const MAX_RETRY_SECONDS = 30;

/** Bytes that the heap may grow to. Reading them takes longer than a step of a run, and they never change. */
const HEAP_LIMIT = getHeapStatistics().heap_size_limit;

/** A run under a lease of this process. */
interface LeasedRun {
  id: string;
  holder: string;
}

interface Entry {
  run_id: string;
  bytes: number;
  measure: (() => number) | undefined;
}

/**
 * Account of the bytes that all runs in the memory of this process hold: inputs, outputs and what their calls work on.
 * A run that finds no room is deferred: it leaves memory and is restored from the ledger later.
 *
 * - A run may grow to half of what the others leave, so that a smaller run always finds room.
 * - One run at a time may exceed that, up to the whole limit. This grant goes to the run that was deferred first, so that a
 *   large run does not starve.
 * - A run within its allowance is never deferred.
 */
export class MemoryAccount {
  /** By lease holder. */
  readonly #entries = new Map<string, Entry>();
  /** Ids of deferred runs in the order of their first refusal, with the time until which the order is kept, in ms. */
  readonly #deferred = new Map<string, number>();
  /** Lease holder of the run that may exceed its share. */
  #granted: string | undefined;
  #measuredAt = 0;

  /** Bytes that runs may hold together, and the most that one run may hold. */
  get limit(): number {
    return settings().RUN_MEMORY_BYTES ?? Math.floor(HEAP_SHARE * HEAP_LIMIT);
  }

  /** Bytes that all runs hold now. */
  get bytes(): number {
    return [...this.#entries.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  }

  /** Number of runs that wait for room, as far as this process has met them. */
  get deferred(): number {
    return this.#deferred.size;
  }

  /** Seconds after which a deferred run is tried again. */
  get retrySeconds(): number {
    return Math.min(MAX_RETRY_SECONDS, RETRY_SECONDS + Math.floor(this.#deferred.size / 10));
  }

  /** Takes room for a run before it is read into memory. Returns false when it has to wait. */
  reserve(run: LeasedRun, bytes: number): boolean {
    if (this.record(run, bytes)) return true;
    this.#entries.delete(run.holder);
    return false;
  }

  /**
   * Records what a run in memory holds.
   * @param measure returns the exact figure; `bytes` may include what is garbage already
   * @returns false when the run has to leave memory
   */
  record({ id, holder }: LeasedRun, bytes: number, measure?: () => number): boolean {
    const entry = { run_id: id, bytes, measure };
    this.#entries.set(holder, entry);
    if (bytes <= this.#allowance() || this.#granted === holder || this.#fits(holder, entry)) return true;
    entry.bytes = measure?.() ?? bytes;
    this.#measureAll();
    if (this.#fits(holder, entry)) return true;
    if (this.#granted === undefined && this.#isNext(id)) {
      this.#granted = holder;
      return true;
    }
    this.#defer(id);
    return false;
  }

  /** Removes a run that has left memory. @param isDeferred it waits for room, and keeps its place among the deferred runs */
  release({ id, holder }: LeasedRun, isDeferred: boolean): void {
    this.#entries.delete(holder);
    if (this.#granted === holder) this.#granted = undefined;
    if (isDeferred) this.#defer(id);
    else this.#deferred.delete(id);
  }

  /** A quarter of the limit, for every slot of the worker and as many runs that begin where they are accepted. */
  #allowance(): number {
    return Math.min(MAX_ALLOWANCE, this.limit / (8 * settings().WORKER_CONCURRENCY));
  }

  #fits(holder: string, { bytes }: Entry): boolean {
    const { limit } = this;
    let others = 0;
    for (const [other, entry] of this.#entries)
      if (other !== holder) others += other === this.#granted ? Math.min(entry.bytes, limit / 2) : entry.bytes;
    return 2 * bytes <= limit - others;
  }

  #measureAll(): void {
    if (Date.now() - this.#measuredAt < MEASURE_MS) return;
    this.#measuredAt = Date.now();
    for (const entry of this.#entries.values()) entry.bytes = entry.measure?.() ?? entry.bytes;
  }

  /** True when no run that is out of memory was deferred before this one. */
  #isNext(id: string): boolean {
    const inMemory = new Set([...this.#entries.values()].map(({ run_id }) => run_id));
    for (const [other, until] of this.#deferred) {
      if (other === id) return true;
      if (until < Date.now()) this.#deferred.delete(other);
      else if (!inMemory.has(other)) return false;
    }
    return true;
  }

  /** Keeps the run's place for two tries: it may have been cancelled, or restored by another process. */
  #defer(id: string): void {
    for (const [other, until] of this.#deferred) if (until < Date.now() && other !== id) this.#deferred.delete(other);
    this.#deferred.set(id, Date.now() + (2 * this.retrySeconds + 5) * 1000);
  }
}

/** The account of this process. */
export const memoryAccount = new MemoryAccount();

import type pg from "pg";
import type { ClaimedRun } from "#server/jobs/inngest/local/store.ts";

/** The executor of this process, as whoever stores an event sees it: it may take the run that follows. */
export interface ExecutorHere {
  /** The worker that may lease one more run, or undefined when it has no room. Pair it with `took` or `lost`. */
  offer(): number | undefined;
  /** What the statement has leased to the offered worker, or null: nothing. */
  took(owner: number, run: ClaimedRun | null): void;
  /** The statement failed, so it may or may not have leased a run. */
  lost(): void;
}

const executors = new WeakMap<pg.Pool, ExecutorHere>();

/** Makes the executor known to this process. @returns how to take that back */
export function announceExecutor(pool: pg.Pool, executor: ExecutorHere): () => void {
  executors.set(pool, executor);
  return () => {
    if (executors.get(pool) === executor) executors.delete(pool);
  };
}

/** The executor that works on this pool's database in this process, if there is one. */
export const executorHere = (pool: pg.Pool): ExecutorHere | undefined => executors.get(pool);

import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import type { EngineServices } from "#server/runs/ports.ts";

/** What executes runs in this process, as whoever accepts one sees it. */
export interface LocalWorker {
  services: EngineServices;
  /** Holders of the leases under which runs are executed here. After an outage they may have run out meanwhile. */
  held: Set<string>;
  /**
   * Reserves a slot for one more run that begins here.
   * @param hasEffects it works outside this process, such as by calling models
   * @returns does the work in that slot, or undefined: none is free
   */
  reserve(hasEffects: boolean): ((work: () => Promise<void>) => void) | undefined;
  /** Looks for runs that are due. @returns false when no slot is free for one */
  poke(): boolean;
  /** True when it would take a run that is due now. */
  hasFreeSlot(): boolean;
}

const workers = new WeakMap<pg.Pool, LocalWorker>();

/** Makes the worker known to this process. @returns how to take that back */
export function registerWorker(pool: pg.Pool, worker: LocalWorker): () => void {
  workers.set(pool, worker);
  return () => {
    if (workers.get(pool) === worker) workers.delete(pool);
  };
}

/** What executes runs of this pool's database in this process, if anything does. */
export const localWorker = (of: pg.Pool): LocalWorker | undefined => workers.get(of);

/** How long an Inngest server, which is asked for a run as soon as that is written, has time before it is asked again, in seconds. */
const ASKED_SECONDS = 10;

/** How soon to look after a run that has just become due, in seconds: its event may be on its way. */
export const dueIn = (): number => (isEmbeddedExecutor() ? 0 : ASKED_SECONDS);

/** Whether the database must tell the other processes of a run that is due: this one has no slot for it. */
export const mustNotifyWorkers = (): boolean => isEmbeddedExecutor() && !localWorker(pool())?.hasFreeSlot();

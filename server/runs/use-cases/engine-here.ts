import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import type { EngineServices } from "#server/runs/executor/ports.ts";

/** What carries runs in this process, as whoever accepts one sees it. */
export interface EngineHere {
  services: EngineServices;
  /** Holders of the leases under which runs are carried here. After an outage they may have run out meanwhile. */
  held: Set<string>;
  /**
   * Asks for a place for one more run that begins here.
   * @param hasEffects it works outside this process, such as by calling models
   * @returns does the work in that place, or undefined: there is none
   */
  enter(hasEffects: boolean): ((work: () => Promise<void>) => void) | undefined;
  /** Looks for runs that are due. @returns false when this process has no place for one */
  poke(): boolean;
  /** True when it would take a run that is due now. */
  hasRoom(): boolean;
}

const engines = new WeakMap<pg.Pool, EngineHere>();

/** Makes what carries runs known to this process. @returns how to take that back */
export function announceEngine(pool: pg.Pool, engine: EngineHere): () => void {
  engines.set(pool, engine);
  return () => {
    if (engines.get(pool) === engine) engines.delete(pool);
  };
}

/** What carries runs of this pool's database in this process, if anything does. */
export const engineHere = (of: pg.Pool): EngineHere | undefined => engines.get(of);

/** How long an Inngest server, which is asked for a run as soon as that is written, has time before it is asked again, in seconds. */
const ASKED_SECONDS = 10;

/** How soon to look after a run that has just become due, in seconds: its event may be on its way. */
export const dueIn = (): number => (isEmbeddedExecutor() ? 0 : ASKED_SECONDS);

/** Whether the database must tell the other processes of a run that is due: this one has no place for it. */
export const mustTellWorkers = (): boolean => isEmbeddedExecutor() && !engineHere(pool())?.hasRoom();

import type pg from "pg";
import type { EngineServices } from "#server/runs/executor/ports.ts";

/** The run loop of this process, as whoever accepts a run sees it. */
export interface EngineHere {
  services: EngineServices;
  /** Holders of the leases under which runs are carried without the executor now. After an outage they may have run out meanwhile. */
  held: Set<string>;
  /**
   * Asks for a place for one more run that is carried without the executor.
   * @param hasEffects it works outside this process, such as by calling models
   * @returns does the work in that place, or undefined: there is none
   */
  enter(project_id: string, hasEffects: boolean): ((work: () => Promise<void>) => void) | undefined;
}

const engines = new WeakMap<pg.Pool, EngineHere>();

/** Makes the run loop known to this process. @returns how to take that back */
export function announceEngine(pool: pg.Pool, engine: EngineHere): () => void {
  engines.set(pool, engine);
  return () => {
    if (engines.get(pool) === engine) engines.delete(pool);
  };
}

/** The run loop that works on this pool's database in this process, if there is one. */
export const engineHere = (pool: pg.Pool): EngineHere | undefined => engines.get(pool);

import { AsyncResource } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { engineServices } from "#server/jobs/inngest/engine-services.ts";
import { Places } from "#server/jobs/inngest/places.ts";
import { runPlaces } from "#server/jobs/inngest/run-places.ts";
import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";
import { announceEngine } from "#server/runs/use-cases/engine-here.ts";

/**
 * Lets whoever accepts a run in this process run it at once. Runs of pure nodes have places of their own, as many as the
 * executor would give them; runs that call models share those of the executor, and begin here only while no other process
 * carries runs, since only the executor's tables know what all of them carry. What is more goes to the executor.
 * @param pool of the database whose runs are accepted
 * @param isAlone whether no other process carries runs of this database
 * @returns how to stop: nothing more is begun; resolves when what was begun has ended or was handed over, within `graceMs`
 */
export function beginRunsHere(pool: pg.Pool, isAlone: () => boolean): (graceMs: number) => Promise<void> {
  const { WORKER_CONCURRENCY, PROJECT_CONCURRENCY } = settings();
  const active = new Set<Promise<void>>();
  const ofPure = new Places({ all: WORKER_CONCURRENCY, each: PROJECT_CONCURRENCY });
  // Whoever accepts a run may be answering a web request; the run is none of that request's business.
  const apart = AsyncResource.bind((work: () => Promise<void>) => work());
  const retract = announceEngine(pool, {
    services: engineServices,
    held: new Set(),
    enter(project_id, hasEffects) {
      if (engineServices.drain?.aborted || (hasEffects && !isAlone())) return undefined;
      const leave = (hasEffects ? runPlaces() : ofPure).tryEnter(project_id);
      if (!leave) return undefined;
      return (work) => {
        const done = apart(work)
          .catch((err: unknown) => log.error({ err }, "a run that began here was left behind"))
          .finally(() => {
            active.delete(done);
            leave();
          });
        active.add(done);
      };
    },
  });
  return async (graceMs) => {
    retract();
    await Promise.race([Promise.all(active), pause(graceMs, undefined, { ref: false })]);
  };
}

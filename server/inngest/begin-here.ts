import { AsyncResource } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { engineServices } from "#server/inngest/engine-services.ts";
import { log } from "#server/log.ts";
import { announceEngine } from "#server/services/executions/engine-here.ts";
import { settings } from "#server/settings.ts";

/**
 * Lets whoever accepts a run in this process run it at once, when nothing but pure nodes is in it. As many at a time, of a
 * project and of all, as the executor would carry; what is more goes to the executor.
 * @param pool of the database whose runs are accepted
 * @returns how to stop: nothing more is begun; resolves when what was begun has ended or was handed over, within `graceMs`
 */
export function beginRunsHere(pool: pg.Pool): (graceMs: number) => Promise<void> {
  const { WORKER_CONCURRENCY, PROJECT_CONCURRENCY, SEGMENT_SECONDS } = settings();
  const active = new Set<Promise<void>>();
  const ofProject = new Map<string, number>();
  // Whoever accepts a run may be answering a web request; the run is none of that request's business.
  const apart = AsyncResource.bind((work: () => Promise<void>) => work());
  const retract = announceEngine(pool, {
    services: engineServices,
    seconds: SEGMENT_SECONDS,
    enter(project_id) {
      const count = ofProject.get(project_id) ?? 0;
      if (engineServices.drain?.aborted || active.size >= WORKER_CONCURRENCY || count >= PROJECT_CONCURRENCY) return undefined;
      return (work) => {
        ofProject.set(project_id, (ofProject.get(project_id) ?? 0) + 1);
        const done = apart(work)
          .catch((err: unknown) => log.error({ err }, "a run that began here was left behind"))
          .finally(() => {
            active.delete(done);
            const left = (ofProject.get(project_id) ?? 1) - 1;
            if (left) ofProject.set(project_id, left);
            else ofProject.delete(project_id);
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

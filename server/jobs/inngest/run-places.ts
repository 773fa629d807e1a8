import { Places } from "#server/jobs/inngest/places.ts";
import { settings } from "#server/platform/settings.ts";

let places: Places | undefined;

/**
 * The places of this process for runs by their project: of those that the embedded executor carries and of those that call
 * models and began where they were accepted, together as many as the settings allow.
 */
export function runPlaces(): Places {
  const { WORKER_CONCURRENCY, PROJECT_CONCURRENCY } = settings();
  places ??= new Places({ all: WORKER_CONCURRENCY, each: PROJECT_CONCURRENCY });
  return places;
}

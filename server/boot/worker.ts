import { endCutOff } from "#server/features/assistant/messages.ts";
import { threadSweep } from "#server/features/assistant/work.ts";
import { readingSweep, startFilling } from "#server/features/canvases/fill.ts";
import { heldSweep } from "#server/features/emails/held.ts";
import { outboxSweep, startSending } from "#server/features/emails/send.ts";
import { failureNoticeSweep } from "#server/features/notifications/failures.ts";
import { mailSweep } from "#server/features/notifications/mail.ts";
import { fireDueSchedules } from "#server/features/schedules/fire-due-schedules.ts";
import { childSweep } from "#server/features/workflows/children.ts";
import { failureSweep } from "#server/features/workflows/error-workflow.ts";
import { queuedJobs } from "#server/jobs/definitions.ts";
import { drainRuns, engineServices } from "#server/jobs/engine-services.ts";
import { takeOverOldJobs } from "#server/jobs/postgres/install.ts";
import { startJobWorker } from "#server/jobs/postgres/worker.ts";
import { executeDue } from "#server/jobs/run-workflow.ts";
import { pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";
import { freeLeases } from "#server/runs/store/leases.ts";
import { requestAnew } from "#server/runs/store/queue.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { startRunWorker } from "#server/runs/worker/run-worker.ts";

/** How often sweeps are made, in milliseconds. */
const SWEEP_MS = 5000;
/** Jobs that run at once in this process, beside the runs of workflows. */
const JOBS_AT_ONCE = 20;
/** Time that a run needs to stop after its calls were aborted, in milliseconds. */
const HALT_MS = 1500;

/** All that is looked after. */
const SWEEPS = [
  ...[waitSweep, executionSweep, childSweep, failureSweep, threadSweep, reviewSweep],
  ...[failureNoticeSweep, mailSweep, outboxSweep, heldSweep, readingSweep],
];

/**
 * Starts what carries runs and jobs in this process: all of them unless an Inngest server is named, which is then asked for
 * runs that are due; and the sweeper.
 * @returns how to stop it; steps under way get `graceMs` to end
 */
export async function startWorker(): Promise<(graceMs: number) => Promise<void>> {
  const { DATABASE_URL = "", TREADLE_EMBEDDED_DATABASE } = settings();
  // With our own database no other process can be alive, so every lease belongs to a dead one.
  if (TREADLE_EMBEDDED_DATABASE) await Promise.all([freeLeases(), endCutOff(true)]);
  if (isEmbeddedExecutor()) await takeOverOldJobs(pool());
  const jobWorker = isEmbeddedExecutor()
    ? await startJobWorker({ jobs: queuedJobs, databaseUrl: DATABASE_URL, concurrency: JOBS_AT_ONCE, isAlone: TREADLE_EMBEDDED_DATABASE })
    : undefined;
  const stopRuns = await startRunWorker(pool(), engineServices, executeDue);
  const stopFilling = await startFilling();
  const stopSending = await startSending();
  // What came due while nothing ran fires now, not at the next minute.
  const catchingUp = fireDueSchedules().catch((error) =>
    log.warn({ err: error }, "schedules could not be fired at start, the next minute tries again"),
  );
  if (!isEmbeddedExecutor()) await requestAnew();
  // One after the other: a server that does not answer makes each take as long as it is waited for.
  let sweeping: Promise<void> | undefined;
  const look = () => {
    sweeping ??= sweep(...SWEEPS)
      .catch((err: unknown) => log.warn({ err }, "a sweep failed or a part of it, the next one tries again"))
      .finally(() => {
        sweeping = undefined;
      });
  };
  look();
  const timer = setInterval(look, SWEEP_MS);
  return async (graceMs) => {
    clearInterval(timer);
    // Nothing new is started at once; calls that do not end in time are aborted early enough to give their leases back.
    drainRuns(graceMs - HALT_MS);
    await Promise.all([sweeping, catchingUp, stopRuns(graceMs), stopFilling(), stopSending(graceMs), jobWorker?.stop(graceMs)]);
  };
}

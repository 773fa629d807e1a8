import { pool } from "#server/platform/db/client.ts";
import type { Sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { localWorker } from "#server/runs/local-worker.ts";
import { takeDue } from "#server/runs/store/queue.ts";
import { dispatchWakes, requestDue } from "#server/runs/worker/dispatch.ts";

/** How many executions are asked for at once. */
const TOGETHER = 100;

/** Asks an Inngest server for runs that are due. @returns how many */
async function requestAllDue(): Promise<number> {
  const due = await takeDue(localWorker(pool())?.held ?? []);
  const asleep = due.filter(({ waits }) => waits);
  const isTaken = await dispatchWakes(asleep.map(({ execution_id, segment }) => ({ execution_id, id: `${execution_id}-due-${segment}` })));
  const runs = due.filter(({ waits }) => !waits);
  // With the server away the others are due again in ten seconds.
  for (let from = 0; isTaken && from < runs.length; from += TOGETHER) if (!(await requestDue(runs.slice(from, from + TOGETHER)))) break;
  return due.length;
}

/**
 * Looks after runs that are due: whatever was lost (an event, a process, a server), a run goes on. What this process executes
 * itself goes on anyway.
 */
export const executionSweep: Sweep = {
  run: async () => {
    if (isEmbeddedExecutor()) return localWorker(pool())?.poke();
    const found = await requestAllDue();
    if (found) log.info({ found }, "requested executions without a lease again");
  },
};

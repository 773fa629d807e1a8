import { LRUCache } from "lru-cache";
import { v5 as uuidOf } from "uuid";
import { notify } from "#server/features/notifications/notify.ts";
import { db } from "#server/platform/db/client.ts";
import type { Sweep } from "#server/platform/db/sweep.ts";
import { type FailedRuns, failedLately, MAY_HAVE_FAILED } from "#server/runs/store/failed-runs.ts";
import { shorten } from "#server/shared/shorten.ts";

// Members are told of runs that fail: once a workflow and hour, with the number of them.

const ERROR_SHOWN = 200;

/** Groups get ids of their own, the same at every look. */
const GROUPS = "5f0c2d8e-3f4b-5c11-9d55-6a1b0e7c4a21";
const groupOf = ({ workflow_id, hour }: FailedRuns) => uuidOf(`${workflow_id} ${hour.toISOString()}`, GROUPS);

function notificationOf(failed: FailedRuns) {
  const { workflow_id, workflow_name, count, execution_id, error } = failed;
  const reason = error ? `: ${shorten(error.replace(/\s+/g, " "), ERROR_SHOWN)}` : "";
  return {
    title: count === 1 ? `A run of ${workflow_name} failed${reason}` : `${count} runs of ${workflow_name} failed, the latest${reason}`,
    link: count === 1 ? `/runs/${execution_id}` : `/runs?status=failed&workflow=${workflow_id}`,
  };
}

/** What this process has told of each group last, so that a look which finds nothing new asks for no members. */
const told = new LRUCache<string, string>({ max: 5000 });

/**
 * Tells every member of runs that have failed: one notification for a workflow and hour, which counts them. Processes may do it at
 * the same time; nobody is told of the same twice.
 */
export const failureNoticeSweep: Sweep = {
  isDue: MAY_HAVE_FAILED,
  run: async () => {
    for (const failed of await failedLately()) {
      const { project_id } = failed;
      const subject_id = groupOf(failed);
      const { title, link } = notificationOf(failed);
      if (told.get(subject_id) === title) continue;
      const members = await db().membership.findMany({
        where: { project_id, user: { service_project_id: null } },
        select: { user_id: true },
      });
      await notify(db(), members, { project_id, kind: "run_failed", subject_id, title, link }, "update");
      told.set(subject_id, title);
    }
  },
};

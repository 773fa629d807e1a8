import { pool } from "#server/platform/db/client.ts";
import { finds } from "#server/platform/db/sweep.ts";
import { NEVER_STARTED } from "#server/runs/store/refused-runs.ts";

/** A run of a saved version that has failed, no other has started, and whose failure is to start a workflow. */
export interface FailedRun {
  id: string;
  project_id: string;
  workflow_id: string;
  workflow_name: string;
  error: string | null;
  /** The workflow to start. */
  error_workflow_id: string;
  /** The node that failed last; null when no node is the reason. */
  failed_node_id: string | null;
  snapshot_id: string;
  /** Message to the assistant that has brought it about. */
  assistant_message_id: string | null;
}

// Excludes runs of error workflows, which would never end, runs of drafts, whose author sees them fail, and runs that never started.
const FAILED = `
  FROM executions e JOIN workflows w ON w.id = e.workflow_id JOIN projects p ON p.id = e.project_id
  WHERE e.status = 'failed' AND e.trigger <> 'error' AND e.parent_id IS NULL AND e.workflow_version IS NOT NULL AND p.deleted_at IS NULL
    AND NOT ${NEVER_STARTED} AND coalesce(w.error_workflow_id, p.error_workflow_id) IS NOT NULL
    AND e.completed_at > CASE WHEN w.error_workflow_id IS NULL THEN p.error_workflow_since ELSE w.error_workflow_since END`;

/** Whether `failedRuns` or `failedLately` may find any; see `Sweep`. */
export const MAY_HAVE_FAILED = finds("SELECT FROM executions WHERE status = 'failed' AND completed_at > now() - interval '1 day'");

/** One run, if its failure is to start a workflow. */
export const failedRun = async (id: string): Promise<FailedRun | undefined> =>
  (
    await pool().query<FailedRun>(
      `SELECT e.id, e.project_id, e.workflow_id, w.name AS workflow_name, e.error, e.snapshot_id, e.assistant_message_id,
         coalesce(w.error_workflow_id, p.error_workflow_id) AS error_workflow_id,
         (SELECT r.node_id FROM node_runs r WHERE r.execution_id = e.id AND r.status = 'failed' AND r.iteration = ''
          ORDER BY r.completed_at DESC LIMIT 1) AS failed_node_id
       ${FAILED} AND e.id = $1`,
      [id],
    )
  ).rows[0];

/** Ids of those of the last day, without the ones of the last seconds, of which somebody is taking care. */
export const failedRuns = async (): Promise<string[]> =>
  (
    await pool().query<{ id: string }>(
      `SELECT e.id ${FAILED} AND e.completed_at > now() - interval '1 day' AND e.completed_at < now() - interval '5 seconds' ORDER BY e.completed_at DESC LIMIT 1000`,
    )
  ).rows.map(({ id }) => id);

/** Failed runs and refused starts of one workflow within one hour. */
export interface FailedRuns {
  project_id: string;
  workflow_id: string;
  workflow_name: string;
  /** When that hour began. */
  hour: Date;
  count: number;
  /** The latest of them, and why it failed. */
  execution_id: string;
  error: string | null;
}

// Excludes runs of drafts, whose author sees them fail, and child runs, which fail their parent. Includes refused starts that left
// no execution.
const BY_HOUR = `
  SELECT f.project_id, f.workflow_id, f.workflow_name, f.hour, f.execution_id, f.error, (f.count + coalesce(r.count - r.rows, 0))::int AS count
  FROM (
    SELECT DISTINCT ON (e.workflow_id, date_trunc('hour', e.completed_at)) w.project_id, e.workflow_id, w.name AS workflow_name,
      date_trunc('hour', e.completed_at) AS hour, e.id AS execution_id, e.error,
      count(*) OVER (PARTITION BY e.workflow_id, date_trunc('hour', e.completed_at)) AS count
    FROM executions e JOIN workflows w ON w.id = e.workflow_id AND w.deleted_at IS NULL
    WHERE e.status = 'failed' AND e.workflow_version IS NOT NULL AND e.trigger <> 'workflow' AND e.completed_at > now() - interval '2 hours'
    ORDER BY e.workflow_id, date_trunc('hour', e.completed_at), e.completed_at DESC
  ) AS f
  LEFT JOIN refused_starts r ON r.workflow_id = f.workflow_id AND r.hour = f.hour`;

/** Runs of saved versions that have failed in the last two hours, by workflow and hour. */
export const failedLately = async (): Promise<FailedRuns[]> =>
  (await pool().query<FailedRuns>({ name: "failed-lately", text: BY_HOUR })).rows;

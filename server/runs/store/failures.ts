import { pool } from "#server/platform/db/client.ts";

/** The failed runs of one workflow within one hour. */
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

// What is tried on the canvas fails before the eyes of whoever tries it, and a child run fails its parent, which is told.
const FAILED = `
  SELECT DISTINCT ON (e.workflow_id, date_trunc('hour', e.completed_at)) w.project_id, e.workflow_id, w.name AS workflow_name,
    date_trunc('hour', e.completed_at) AS hour, e.id AS execution_id, e.error,
    (count(*) OVER (PARTITION BY e.workflow_id, date_trunc('hour', e.completed_at)))::int AS count
  FROM executions e JOIN workflows w ON w.id = e.workflow_id AND w.deleted_at IS NULL
  WHERE e.status = 'failed' AND e.workflow_version IS NOT NULL AND e.trigger <> 'workflow' AND e.completed_at > now() - interval '2 hours'
  ORDER BY e.workflow_id, date_trunc('hour', e.completed_at), e.completed_at DESC`;

/** Runs of saved versions that have failed in the last two hours, by workflow and hour. */
export const failedLately = async (): Promise<FailedRuns[]> =>
  (await pool().query<FailedRuns>({ name: "failed-lately", text: FAILED })).rows;

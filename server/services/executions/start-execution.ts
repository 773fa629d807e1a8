import { v7 as uuid } from "uuid";
import { cleanText } from "#server/clean-text.ts";
import { pool, withClient } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { type ExecuteResult, type ExecutionTrigger, PREVIEW_CHARACTERS } from "#server/schemas/execution.ts";
import { requestRun } from "#server/services/executions/request-run.ts";
import { settings } from "#server/settings.ts";

export interface NewExecution {
  project_id: string;
  workflow_id: string;
  workflow_version: number | null;
  snapshot_id: string;
  trigger: ExecutionTrigger;
  started_by_id: string | null;
  input: string;
  params: Record<string, unknown> | null;
}

const INSERT = `
  WITH execution AS (
    INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, trigger, started_by_id, input_preview, overdue_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, left($8, ${PREVIEW_CHARACTERS}), now() + interval '2 minutes')
    RETURNING id
  )
  INSERT INTO execution_values (execution_id, input, params) SELECT id, $8, $9::jsonb FROM execution`;

const values = (id: string, execution: NewExecution) => [
  id,
  execution.project_id,
  execution.workflow_id,
  execution.workflow_version,
  execution.snapshot_id,
  execution.trigger,
  execution.started_by_id,
  cleanText(execution.input),
  execution.params && JSON.stringify(execution.params),
];

const WINDOW = `
  SELECT count(*)::int AS used, ceil(extract(epoch FROM min(created_at) + interval '1 hour' - now()))::int AS free_in
  FROM (SELECT created_at FROM executions WHERE project_id = $1 AND created_at > now() - interval '1 hour' ORDER BY created_at DESC LIMIT $2) AS latest`;

const hourUsedUp = (limit: number, retryAfter: number) =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    `This project has started ${limit} executions within an hour, which is its limit. Try again in ${retryAfter} seconds.`,
    { retryAfter },
  );

/**
 * Inserts while the project's executions of the last hour are fewer than `limit`. Requests of one project queue up on a
 * lock, so that together they never get past it.
 */
async function insertWithin(limit: number, id: string, execution: NewExecution): Promise<void> {
  await withClient(async (client) => {
    await client.query("BEGIN");
    try {
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended('executions-per-hour:' || $1, 0))", [execution.project_id]);
      const { rows } = await client.query<{ used: number; free_in: number }>(WINDOW, [execution.project_id, limit]);
      const [window] = rows;
      if (window && window.used >= limit) throw hourUsedUp(limit, Math.max(1, window.free_in));
      await client.query({ name: "execution-insert", text: INSERT, values: values(id, execution) });
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  });
}

/**
 * Accepts a run: once this returns it is in the database and will end, whatever happens to this process.
 * @throws AppError RATE_LIMIT_EXCEEDED when the project has used up its hour
 */
export async function startExecution(execution: NewExecution): Promise<ExecuteResult> {
  const id = uuid();
  const limit = settings().EXECUTIONS_PER_HOUR;
  if (limit > 0) await insertWithin(limit, id, execution);
  else await pool().query({ name: "execution-insert", text: INSERT, values: values(id, execution) });
  await requestRun({ execution_id: id, project_id: execution.project_id, dispatch: 0 });
  return { execution_id: id, status: "pending" };
}

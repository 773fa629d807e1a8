import type { Prisma } from "#prisma/generated/client.ts";

/**
 * Cancels every execution of a project that has not ended: its lease is taken away, whatever process carries it is told and
 * aborts the model calls under way, and so are those who follow it.
 * @returns their ids
 */
export async function stopExecutions(within: Prisma.TransactionClient, project_id: string): Promise<string[]> {
  const stopped = await within.$queryRaw<{ id: string }[]>`
    WITH stopped AS (
      UPDATE executions SET status = 'cancelled', completed_at = now(), lease_epoch = lease_epoch + 1, lease_until = NULL, overdue_at = NULL
      WHERE project_id = ${project_id}::uuid AND status IN ('pending', 'queued', 'running', 'paused') RETURNING id
    ), withdrawn AS (
      UPDATE reviews SET status = 'withdrawn', decided_at = now() FROM stopped WHERE execution_id = stopped.id AND reviews.status = 'waiting'
    ), told AS MATERIALIZED (
      SELECT id, pg_notify('treadle_control', id::text), pg_notify('treadle_execution', id::text) FROM stopped
    )
    SELECT id FROM told`;
  return stopped.map(({ id }) => id);
}

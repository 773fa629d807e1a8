import { Prisma } from "#prisma/generated/client.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { longTexts } from "#server/runs/store/reviews.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// Reading executions: one, or a page of a list.

/**
 * The latest execution of a workflow, as a query within another.
 * @param workflow_id a column of that one
 */
export const latestRunOf = (workflow_id: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`SELECT e.id, e.status, e.created_at FROM executions e WHERE e.workflow_id = ${workflow_id} ORDER BY e.created_at DESC, e.id DESC LIMIT 1`;

/** What a list reads: never the big values. */
export const summaryFields = {
  id: true,
  workflow_id: true,
  workflow_version: true,
  status: true,
  trigger: true,
  input_preview: true,
  output_preview: true,
  error: true,
  rerun_of_id: true,
  parent_id: true,
  parent_node_id: true,
  input_tokens: true,
  output_tokens: true,
  cost: true,
  cost_is_partial: true,
  created_at: true,
  started_at: true,
  completed_at: true,
  workflow: { select: { name: true } },
  started_by: { select: { id: true, name: true } },
} as const satisfies Prisma.ExecutionSelect;

/** What one execution reads. */
export const detailFields = {
  ...summaryFields,
  last_seq: true,
  snapshot_id: true,
  values: { select: { input: true, output: true, outputs: true } },
  waits: { where: { reason: { in: ["review", "budget"] } }, omit: longTexts, orderBy: { id: "asc" } },
} as const satisfies Prisma.ExecutionSelect;

export type SummaryRow = Prisma.ExecutionGetPayload<{ select: typeof summaryFields }>;
export type DetailRow = Prisma.ExecutionGetPayload<{ select: typeof detailFields }>;

/**
 * An execution of a project.
 * @throws AppError NOT_FOUND
 */
export async function findExecution<Select extends Prisma.ExecutionSelect>(
  { project_id, execution_id }: { project_id: string; execution_id: string },
  select: Select,
): Promise<Prisma.ExecutionGetPayload<{ select: Select }>> {
  const row = isUuid(execution_id) ? await db().execution.findFirst({ where: { id: execution_id, project_id }, select }) : null;
  if (!row) throw notFound("execution");
  return row as Prisma.ExecutionGetPayload<{ select: Select }>; // cast: it is what was asked for
}

/** Which workflow an execution of a project runs, and on which graph; null when there is no such execution. */
export const workflowOfExecution = (project_id: string, id: string) =>
  db().execution.findFirst({ where: { id, project_id }, select: { snapshot_id: true, workflow: { select: { name: true } } } });

/**
 * An execution that has ended, to begin another with its results.
 * @throws AppError NOT_FOUND; CONFLICT when it has not ended, or its workflow has been deleted
 */
export async function findOriginal(project_id: string, execution_id: string) {
  const row = await findExecution(
    { project_id, execution_id },
    {
      status: true,
      workflow_id: true,
      workflow_version: true,
      snapshot_id: true,
      snapshot: { select: { graph: true } },
      values: { select: { input: true, params: true } },
      workflow: { select: { deleted_at: true, name: true } },
    },
  );
  if (!isFinal(row.status))
    throw new AppError("CONFLICT", `This execution has not ended: it is ${row.status}. Wait for it, or cancel it first.`);
  if (row.workflow.deleted_at) throw new AppError("CONFLICT", "The workflow of this execution has been deleted, so it cannot run again.");
  return row;
}

const newestFirst = [{ created_at: "desc" }, { id: "desc" }] as const satisfies Prisma.ExecutionOrderByWithRelationInput[];

/** The latest executions of a workflow, newest first. */
export const latestOfWorkflow = (workflow_id: string, limit: number): Promise<SummaryRow[]> =>
  db().execution.findMany({ where: { workflow_id }, select: summaryFields, orderBy: [...newestFirst], take: limit });

/** These executions as lists show them, newest first. */
export const summariesOf = (ids: readonly string[]): Promise<SummaryRow[]> =>
  db().execution.findMany({ where: { id: { in: [...ids] } }, select: summaryFields, orderBy: [...newestFirst] });

/** True when there is an execution with this id. */
export async function isStored(id: string): Promise<boolean> {
  return (await pool().query("SELECT FROM executions WHERE id = $1", [id])).rows.length > 0;
}

/** Id of the project that an execution belongs to, or undefined. Says nothing about who may see it. */
export async function projectOfExecution(execution_id: string): Promise<string | undefined> {
  if (!isUuid(execution_id)) return undefined;
  const { rows } = await pool().query<{ project_id: string }>("SELECT project_id FROM executions WHERE id = $1", [execution_id]);
  return rows[0]?.project_id;
}

/**
 * The state that an execution is in; one that is gone counts as cancelled.
 * @throws the database's error
 */
export async function executionStatus(execution_id: string): Promise<ExecutionStatus> {
  const { rows } = await pool().query<{ status: ExecutionStatus }>("SELECT status FROM executions WHERE id = $1", [execution_id]);
  return rows[0]?.status ?? "cancelled";
}

/** How an execution stands, and what it has come to. */
export interface RunEnding {
  status: ExecutionStatus;
  output: string | null;
  error: string | null;
}

/** How an execution stands; undefined for one that is gone. */
export async function readEnding(execution_id: string): Promise<RunEnding | undefined> {
  const { rows } = await pool().query<RunEnding>({
    name: "execution-ending",
    text: "SELECT e.status, e.error, v.output FROM executions e JOIN execution_values v ON v.execution_id = e.id WHERE e.id = $1",
    values: [execution_id],
  });
  return rows[0];
}

/** What these runs have used so far: US dollars where prices are known, and the tokens of runs where some price is not. */
export async function usedByRuns(execution_ids: readonly string[]): Promise<{ cost: number; unpriced: number }> {
  const [used] = await db().$queryRaw<{ cost: number; unpriced: number }[]>`
    SELECT coalesce(sum(cost), 0)::float8 AS cost,
      coalesce(sum(input_tokens + output_tokens) FILTER (WHERE cost IS NULL OR cost_is_partial), 0)::float8 AS unpriced
    FROM executions WHERE id = ANY(${execution_ids}::uuid[])`;
  return used ?? { cost: 0, unpriced: 0 };
}

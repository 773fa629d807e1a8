import { Prisma } from "#prisma/generated/client.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sql } from "#server/platform/db/sql.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { MAX_VOTES } from "#server/runs/schema.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { NEVER_STARTED } from "#server/runs/store/refused-runs.ts";
import { longTexts } from "#server/runs/store/reviews.ts";
import { readable, readableBytes, storedText, withTexts } from "#server/runs/store/texts.ts";
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
  inngest_run_id: true,
  last_seq: true,
  snapshot_id: true,
  waits: {
    where: { reason: { in: ["review", "budget"] } },
    omit: longTexts,
    include: { votes: { orderBy: { created_at: "asc" }, take: MAX_VOTES } },
    orderBy: { id: "asc" },
  },
} as const satisfies Prisma.ExecutionSelect;

export type SummaryRow = Prisma.ExecutionGetPayload<{ select: typeof summaryFields }>;
export type DetailRow = Prisma.ExecutionGetPayload<{ select: typeof detailFields }>;

/** Executions of a project; with `key_id` only those that this key started. */
export interface RunScope {
  project_id: string;
  key_id?: string | null;
}

/**
 * An execution within a scope.
 * @throws AppError NOT_FOUND
 */
export async function findExecution<Select extends Prisma.ExecutionSelect>(
  { project_id, key_id, execution_id }: RunScope & { execution_id: string },
  select: Select,
): Promise<Prisma.ExecutionGetPayload<{ select: Select }>> {
  const where = { id: execution_id, project_id, ...(key_id && { started_by_key_id: key_id }) };
  const row = isUuid(execution_id) ? await db().execution.findFirst({ where, select }) : null;
  if (!row) throw notFound("execution");
  return row as Prisma.ExecutionGetPayload<{ select: Select }>; // cast: it is what was asked for
}

/** Returns what the trigger of an execution keeps besides the input. */
export const readParams = async (execution_id: string) =>
  (await db().executionValues.findUnique({ where: { execution_id }, select: { params: true } }))?.params;

/** Column of `execution_values` with a text of any length. */
const textOfRun = (column: "input" | "output", execution_id: string) =>
  storedText({
    name: `execution-${column}`,
    execution_id: "execution_id",
    text: column,
    hash: column === "output" ? "output_hash" : "NULL::text",
    from: sql`execution_values WHERE execution_id = ${execution_id}::uuid`,
  });

const VALUES = `
  SELECT CASE WHEN ${readable("octet_length(input)", "octet_length(input)", "$2")} THEN input END AS input,
    CASE WHEN ${readable("octet_length(output)", "octet_length(input) + octet_length(output)", "$2")} THEN output END AS output,
    output IS NULL AS has_no_output, outputs
  FROM execution_values WHERE execution_id = $1`;

/** Input, output and Output nodes of an execution. @param texts takes the long texts out */
export async function readRunValues(
  execution_id: string,
  texts?: DeferredTexts,
): Promise<{ input: string; output: string | null; outputs: unknown[] }> {
  type Row = { input: string | null; output: string | null; has_no_output: boolean; outputs: unknown };
  const values = [execution_id, readableBytes(texts)];
  const [row] = (await pool().query<Row>({ name: "execution-values", text: VALUES, values })).rows;
  if (!row) return { input: "", output: null, outputs: [] };
  const text = (column: "input" | "output") => row[column] ?? texts?.defer(textOfRun(column, execution_id)) ?? "";
  return {
    input: text("input"),
    output: row.has_no_output ? null : text("output"),
    outputs: Array.isArray(row.outputs) ? await withTexts(execution_id, row.outputs, texts) : [],
  };
}

/** Which workflow an execution of a project runs, and on which graph; null when there is no such execution. */
export const workflowOfExecution = (project_id: string, id: string) =>
  db().execution.findFirst({ where: { id, project_id }, select: { snapshot_id: true, workflow: { select: { name: true } } } });

/**
 * An execution that has ended, to begin another with its results.
 * @throws AppError NOT_FOUND; CONFLICT when it has not ended, or its workflow has been deleted
 */
export async function findOriginal(scope: RunScope, execution_id: string) {
  const row = await findExecution(
    { ...scope, execution_id },
    {
      status: true,
      workflow_id: true,
      workflow_version: true,
      snapshot_id: true,
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

/** True when there is an execution with this id that was not refused. */
export async function hasStarted(id: string): Promise<boolean> {
  return (await pool().query(`SELECT FROM executions e WHERE e.id = $1 AND NOT ${NEVER_STARTED}`, [id])).rows.length > 0;
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

const ENDING = `
  SELECT e.status, e.error, CASE WHEN ${readable("octet_length(v.output)", "octet_length(v.output)", "$2")} THEN v.output END AS output,
    v.output IS NULL AS has_no_output
  FROM executions e JOIN execution_values v ON v.execution_id = e.id
  WHERE e.id = $1`;

/** Returns the status and results of an execution; undefined for one that was deleted. @param texts takes a long output out */
export async function readEnding(execution_id: string, texts?: DeferredTexts): Promise<RunEnding | undefined> {
  type Row = RunEnding & { has_no_output: boolean };
  const { rows } = await pool().query<Row>({ name: "execution-ending", text: ENDING, values: [execution_id, readableBytes(texts)] });
  const [row] = rows;
  if (!row) return undefined;
  const { has_no_output, ...ending } = row;
  return { ...ending, output: has_no_output ? null : (row.output ?? texts?.defer(textOfRun("output", execution_id)) ?? "") };
}

/** Returns the runs in progress that a message to the assistant has brought about, without those that a node of another run started. */
export async function openRunsOfMessage(message_id: string): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    `SELECT id FROM executions
     WHERE assistant_message_id = $1 AND parent_id IS NULL AND completed_at IS NULL`,
    [message_id],
  );
  return rows.map(({ id }) => id);
}

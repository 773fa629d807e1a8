import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { ITEM } from "#server/runs/ports.ts";
import type { NodeOutput, NodeOutputInput } from "#server/runs/schema.ts";
import { textOf } from "#server/runs/store/texts.ts";

const OUTPUT = `
  SELECT ${textOf("output")} AS output
  FROM node_runs r JOIN executions e ON e.id = r.execution_id LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = $2 AND r.iteration = $3 AND r.handle IS DISTINCT FROM '${ITEM}' AND e.project_id = $4
  ORDER BY r.attempt DESC LIMIT 1`;

/**
 * The whole output of one node's newest attempt, however large.
 * @throws AppError NOT_FOUND
 */
export async function getNodeOutput({ project }: ProjectPrincipal, input: NodeOutputInput): Promise<NodeOutput> {
  const { execution_id, node_id, iteration } = input;
  if (!isUuid(execution_id)) throw notFound("execution");
  const { rows } = await pool().query<{ output: string | null }>(OUTPUT, [execution_id, node_id, iteration, project.id]);
  const [row] = rows;
  if (!row) throw notFound("result of this node");
  return { node_id, iteration: iteration || null, output: row.output };
}

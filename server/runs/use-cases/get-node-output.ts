import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import type { NodeOutput, NodeOutputInput } from "#server/runs/schema.ts";
import { findNodeOutput } from "#server/runs/store/node-results.ts";

/**
 * The whole output of one node's newest attempt, however large.
 * @throws AppError NOT_FOUND
 */
export async function getNodeOutput({ project }: ProjectPrincipal, input: NodeOutputInput): Promise<NodeOutput> {
  const { execution_id, node_id, iteration } = input;
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await findNodeOutput(project.id, input);
  if (!row) throw notFound("result of this node");
  return { node_id, iteration: iteration || null, output: row.output };
}

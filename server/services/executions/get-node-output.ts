import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { ITEM } from "#server/engine/ports.ts";
import { notFound } from "#server/errors.ts";
import type { NodeOutput, NodeOutputInput } from "#server/schemas/execution.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * The whole output of one node's newest attempt, however large.
 * @throws AppError NOT_FOUND
 */
export async function getNodeOutput({ project }: ProjectPrincipal, input: NodeOutputInput): Promise<NodeOutput> {
  const { execution_id, node_id, iteration } = input;
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await db().nodeRun.findFirst({
    where: { execution_id, node_id, iteration, execution: { project_id: project.id }, OR: [{ handle: null }, { handle: { not: ITEM } }] },
    orderBy: { attempt: "desc" },
    select: { values: { select: { output: true } } },
  });
  if (!row) throw notFound("result of this node");
  return { node_id, iteration: iteration || null, output: row.values?.output ?? null };
}

import { isUuid } from "#server/platform/new-id.ts";
import { nodesOfChangedAgents, topLevelEnds } from "#server/runs/store/node-results.ts";
import { dependentsOf } from "#server/workflow/compile.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { goesOnAfterFailure } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";
import { staleNodes } from "#server/workflow/stale.ts";

/**
 * Nodes whose results of an earlier run still hold, and need not run again: they have ended, do not depend on `from`, and neither
 * they nor anything before them has changed since.
 * @param before the graph that ran
 * @param from a node that is to run again whatever it left behind; null for what changed alone
 * @param honoured whether pins counted in the earlier run
 */
export async function resultsThatHold(
  execution_id: string,
  before: Graph,
  graph: Graph,
  from: string | null,
  honoured: boolean,
): Promise<string[]> {
  const agents = graph.nodes.flatMap(({ id, data: { agent_id } }) =>
    typeof agent_id === "string" && isUuid(agent_id) ? [{ id, agent_id }] : [],
  );
  const [rows, asked] = await Promise.all([topLevelEnds(execution_id), nodesOfChangedAgents(execution_id, agents)]);
  const ended = new Map(rows.map((row) => [row.node_id, row]));
  const outputOf = (id: string) => ended.get(id)?.output ?? null;
  const stale = staleNodes(before, graph, outputOf, honoured, ({ id }) => asked.has(id));
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const plan = runPlan(graph);
  const top = plan.scopes.get(null);
  if (!top) return [];
  const unitOf = (id: string) => plan.loopsAround(id)[0] ?? id;
  const changed = new Set([...stale.keys()].map(unitOf));
  const again = from === null ? new Set<string>() : dependentsOf(top, unitOf(from));
  const taken = new Set<string>();
  const known = new Map<string, boolean>();
  /** True when nothing of what leads to it is run anew: each node is taken over, or was skipped and will be again. */
  const holds = (id: string): boolean => {
    const answer = known.get(id);
    if (answer !== undefined) return answer;
    known.set(id, false);
    const row = ended.get(id);
    const isEnd = row?.status === "complete" || (row?.status === "failed" && goesOnAfterFailure(byId.get(id)));
    const isFree = !again.has(id) && !changed.has(id) && (isEnd || row?.status === "skipped");
    const result = isFree && (top.incoming.get(id) ?? []).every((edge) => holds(edge.source));
    if (result && isEnd) taken.add(id);
    known.set(id, result);
    return result;
  };
  for (const id of top.nodeIds) holds(id);
  return graph.nodes.filter(({ id }) => taken.has(unitOf(id))).map(({ id }) => id);
}

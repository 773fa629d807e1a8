import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

/** Three blocks a row: 500 nodes fit into the view at the least zoom. */
const COLUMNS = 21;
const STEP = { x: 330, y: 220 };

/**
 * A workflow as large ones are: blocks of an agent, a branch with a way each, a loop with a body, and an agent that both ways
 * lead to, joined to a chain and set out in rows.
 * @param size how many nodes
 * @param agentId the agent that every agent node asks
 */
export function largeGraph(size: number, agentId: string): Pick<Graph, "nodes" | "edges"> {
  const nodes: GraphNode[] = [
    { id: "start", type: "triggerNode", position: { x: -STEP.x, y: 0 }, data: { label: "Start", kind: "manual", default_input: "tea" } },
  ];
  const edges: GraphEdge[] = [];
  let last: { id: string; handle?: string } = { id: "start" };
  const add = (type: string, name: string, data: Record<string, unknown>, from: { id: string; handle?: string }[]) => {
    const index = nodes.length;
    const id = `node-${index}`;
    const position = { x: ((index - 1) % COLUMNS) * STEP.x, y: Math.floor((index - 1) / COLUMNS) * STEP.y };
    nodes.push({ id, type, position, data: { label: `${name} ${index}`, ...data } });
    for (const { id: source, handle } of from)
      edges.push({ id: `${source}-${handle ?? ""}-${id}`, source, target: id, ...(handle !== undefined && { sourceHandle: handle }) });
    return id;
  };
  const ask = (index: number) => ({
    agent_id: agentId,
    input: `Write two sentences about part ${index} of {{trigger.output}}, for readers who know little of it.`,
  });
  while (nodes.length + 7 <= size) {
    const first = add("agentNode", "Research", ask(nodes.length), [last]);
    const branch = add("branchNode", "Long enough", { condition: "len(output) > 200 and 'draft' not in output" }, [{ id: first }]);
    const long = add("agentNode", "Shorten", ask(nodes.length), [{ id: branch, handle: "true" }]);
    const short = add("agentNode", "Extend", ask(nodes.length), [{ id: branch, handle: "false" }]);
    const join = add("agentNode", "Join", { agent_id: agentId }, [{ id: long }, { id: short }]);
    const loop = add("loopNode", "Each line", { items_expression: '["one", "two", "three"]', concurrency: 2 }, [{ id: join }]);
    add("agentNode", "Check line", { agent_id: agentId, input: `Is this right? {{Each line ${nodes.length - 1}.current_item}}` }, [
      { id: loop, handle: "body" },
    ]);
    last = { id: loop, handle: "done" };
  }
  while (nodes.length < size) last = { id: add("outputNode", "Result", {}, [last]) };
  return { nodes, edges };
}

import { expressionOptions } from "#components/editor/expression-options.ts";
import { pythonString } from "#components/editor/python-text.ts";
import type { RunPicture } from "#components/runs/run-picture.ts";
import type { NodeScope } from "#server/engine/define-node.ts";
import type { Graph } from "#server/schemas/graph.ts";

/** Something that a condition can read. */
export interface PythonOption {
  code: string;
  /** Type of the node that it comes from; empty for none in particular. */
  nodeType: string;
  /** What it is, or what it was in the run on the screen. */
  hint: string;
}

const OUTPUT = ".output";

/** The three variables, then one entry of node_outputs for each node upstream: agents by name, others by label. */
export function pythonOptions(graph: Graph, nodeId: string, scope: NodeScope, picture: RunPicture | null): PythonOption[] {
  const options = expressionOptions(graph, nodeId, scope, picture).filter(({ expression }) => expression.endsWith(OUTPUT));
  const trigger = options.find(({ nodeType }) => nodeType === "triggerNode");
  const before = graph.edges.filter((edge) => edge.target === nodeId).map((edge) => edge.source);
  const last = before.length === 1 ? picture?.nodes[before[0] ?? ""]?.output : undefined;
  const agents = new Map(
    graph.nodes.flatMap((node) => {
      const name = node.type === "agentNode" ? scope.agentName(String(node.data.agent_id ?? "")) : undefined;
      return name === undefined ? [] : [[String(node.data.label ?? ""), name] as const];
    }),
  );
  const seen = new Set<string>();
  const nodes = options.flatMap(({ expression, nodeType, lastValue }) => {
    if (nodeType === "triggerNode") return [];
    const label = expression.slice(0, -OUTPUT.length);
    const name = agents.get(label) ?? label;
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ code: `node_outputs[${pythonString(name)}]`, nodeType, hint: lastValue ?? "Its output, once it has run" }];
  });
  return [
    { code: "output", nodeType: "", hint: last ?? "Output of the node before" },
    { code: "trigger_output", nodeType: "triggerNode", hint: trigger?.lastValue ?? "What started the run" },
    ...nodes,
    ...(nodes.length ? [] : [{ code: "node_outputs", nodeType: "", hint: "Outputs of other nodes, by name" }]),
  ];
}

import type { Graph } from "#server/workflow/schema.ts";

// Graphs for specs, written short: nodes by id, edges as "a>b" or "a.true>b".

type Data = Record<string, unknown>;

/** @param nodes id → [type without "Node", data]; the id is also the label unless data has one */
export function graphOf(nodes: Record<string, [string, Data?]>, edges: string[]): Pick<Graph, "nodes" | "edges"> {
  const ids = Object.keys(nodes);
  return {
    nodes: Object.entries(nodes).map(([id, [type, data]]) => ({
      id,
      type: `${type}Node`,
      position: { x: 280 * ids.indexOf(id), y: 0 },
      data: { label: id, ...data },
    })),
    edges: edges.map((text) => {
      const [from = "", target = ""] = text.split(">");
      const [source = "", sourceHandle] = from.split(".");
      return { id: text, source, target, ...(sourceHandle && { sourceHandle }) };
    }),
  };
}

/** A graph with a card of most kinds that the editor draws: on, switched off, in a loop, a note. */
export const manyKinds = (agent_id: string, input = "Write about {{trigger.output}}") =>
  graphOf(
    {
      Start: ["trigger", { kind: "manual", default_input: "tea" }],
      Ask: ["agent", { agent_id, input }],
      Enough: ["branch", { condition: "len(output) > 5" }],
      Each: ["loop", { items_expression: '["a", "b"]' }],
      Step: ["agent", { agent_id, input: "{{Each.current_item}}" }],
      Approve: ["humanLoop", { title: "Good?" }],
      Result: ["output"],
      Stop: ["terminate"],
      Off: ["output", { disabled: true }],
      Remark: ["note", { content: "# Read me\nA *remark*." }],
    },
    [
      ...["Start>Ask", "Ask>Enough", "Enough.true>Each", "Each.body>Step", "Each.done>Approve", "Approve.approved>Result"],
      ...["Result>Off", "Enough.false>Stop"],
    ],
  );

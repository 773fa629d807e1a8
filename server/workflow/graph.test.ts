import { describe, expect, it } from "vitest";
import { checkConnection, findFaults } from "#server/workflow/graph.ts";
import { findProblems } from "#server/workflow/problems.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

const scope = { agentName: (id: string) => (id === "ag" ? "Scout" : undefined) };
const node = (id: string, type: string, data: Record<string, unknown> = {}): GraphNode => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
});
const trigger = node("start", "triggerNode", { kind: "manual" });
const agent = (id: string, input = "") => node(id, "agentNode", { agent_id: "ag", input });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}>${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});
const messages = (graph: Graph) => findFaults(graph).map((fault) => fault.message);

describe("findFaults", () => {
  it("finds none in a sound graph", () => {
    expect(findFaults({ nodes: [trigger, agent("a"), node("o", "outputNode")], edges: [edge("start", "a"), edge("a", "o")] })).toEqual([]);
  });

  it("lets an Output be followed", () => {
    expect(findFaults({ nodes: [trigger, node("o", "outputNode"), agent("a")], edges: [edge("start", "o"), edge("o", "a")] })).toEqual([]);
  });

  it("names the edge that closes a cycle, and the way round", () => {
    const graph = { nodes: [trigger, agent("a"), agent("b")], edges: [edge("start", "a"), edge("a", "b"), edge("b", "a")] };
    expect(findFaults(graph)).toEqual([
      {
        path: "edges.2",
        node_id: null,
        field: null,
        message: 'Edge "b>a" (b → a) closes a cycle: a → b → a. Remove it: workflows run one way only.',
      },
    ]);
  });

  it.each<[string, Graph, string]>([
    ["no trigger", { nodes: [agent("a")], edges: [] }, "has no trigger"],
    ["two triggers", { nodes: [trigger, node("t2", "triggerNode")], edges: [] }, "has 2 triggers (start, t2)"],
    ["an unknown type", { nodes: [trigger, node("x", "magicNode")], edges: [] }, 'unknown type "magicNode"'],
    [
      "an id used twice",
      { nodes: [trigger, agent("a"), { ...agent("a"), data: { label: "other" } }], edges: [] },
      'Node id "a" is used twice',
    ],
    ["a label used twice", { nodes: [trigger, agent("a"), node("b", "agentNode", { label: "a" })], edges: [] }, 'both labelled "a"'],
    ["an edge to nowhere", { nodes: [trigger], edges: [edge("start", "ghost")] }, 'a node that is not in the workflow: "ghost"'],
    ["an edge into the trigger", { nodes: [trigger, agent("a")], edges: [edge("a", "start")] }, "Nothing can lead into the trigger"],
    ["an edge from a note", { nodes: [trigger, agent("a"), node("n", "noteNode")], edges: [edge("n", "a")] }, "Nothing can follow a Note"],
    [
      "a way in that does not exist",
      { nodes: [trigger, agent("a")], edges: [{ ...edge("start", "a"), targetHandle: "side" }] },
      'no way in named "side"',
    ],
    ["a handle that does not exist", { nodes: [trigger, agent("a")], edges: [edge("start", "a", "maybe")] }, 'no way out named "maybe"'],
    ["a config of the wrong type", { nodes: [trigger, node("a", "agentNode", { timeout: "long" })], edges: [] }, 'Node "a" (a): timeout'],
  ])("refuses %s", (_, graph, reason) => expect(messages(graph).join("\n")).toContain(reason));

  it("lists every fault, not only the first", () => {
    expect(messages({ nodes: [agent("a"), node("x", "magicNode")], edges: [edge("a", "ghost")] })).toHaveLength(3);
  });
});

describe("checkConnection", () => {
  const graph = { nodes: [trigger, agent("a"), agent("b"), node("n", "noteNode")], edges: [edge("start", "a"), edge("a", "b")] };
  it.each([
    ["b", "a", "circle"],
    ["a", "a", "follow itself"],
    ["a", "b", "connected already"],
    ["a", "n", "cannot be connected"],
    ["a", "start", "into the trigger"],
  ])("%s → %s is refused: %s", (source, target, reason) => expect(checkConnection(graph, { source, target })).toContain(reason));
  it("allows what a save allows", () => expect(checkConnection(graph, { source: "start", target: "b" })).toBeNull());
});

describe("findProblems", () => {
  const withInput = (input: string): Graph => ({
    nodes: [trigger, agent("a"), agent("b", input)],
    edges: [edge("start", "a"), edge("a", "b")],
  });
  const problems = (graph: Graph) => findProblems(graph, scope).map((problem) => problem.message);

  it("asks for an agent, and for one that exists", () => {
    const graph = {
      nodes: [trigger, node("a", "agentNode"), node("b", "agentNode", { agent_id: "gone" })],
      edges: [edge("start", "a"), edge("start", "b")],
    };
    const severity = "error";
    expect(findProblems(graph, scope)).toEqual([
      { node_id: "a", field: "agent_id", message: "Choose an agent.", severity },
      { node_id: "b", field: "agent_id", message: "The agent that this node names is not in this project. Choose another.", severity },
    ]);
  });

  it("asks for nothing in the body of a loop that is switched off", () => {
    const graph = (disabled: boolean): Graph => ({
      nodes: [
        trigger,
        node("l", "loopNode", { items_expression: "", disabled }),
        node("in", "agentNode"),
        node("l2", "loopNode", { disabled }),
      ],
      edges: [edge("start", "l"), edge("l", "in", "body"), edge("in", "l2")],
    });
    expect(problems(graph(false)).length).toBeGreaterThan(2);
    expect(problems(graph(true))).toEqual([]);
  });

  it.each([
    "{{trigger.output}}",
    "{{a.output}}",
    "{{Scout.output}}",
    "{{start.output}}",
    "{{execution.id}}",
    "{{trigger.output.deep.path[0]}}",
  ])("accepts %s", (input) => expect(problems(withInput(input))).toEqual([]));

  it.each([
    ["{{scuot.output}}", 'Did you mean "Scout"?'],
    ["{{trigger.city}}", 'the trigger gives no "city"'],
    ["{{b.output}}", "does not come before this node"],
    ["{{}}", "is empty"],
  ])("reports %s", (input, reason) => expect(problems(withInput(input)).join()).toContain(reason));

  it("knows the names of parameters", () => {
    const params = node("start", "triggerNode", { kind: "params", parameters: [{ name: "city", type: "text" }] });
    const graph = { nodes: [params, agent("a", "{{trigger.city}} {{trigger.town}}")], edges: [edge("start", "a")] };
    expect(problems(graph)).toEqual(['{{trigger.town}}: the trigger gives no "town". There are: output, city.']);
  });
});

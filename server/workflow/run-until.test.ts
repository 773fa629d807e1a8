import { expect, test } from "vitest";
import { withPins } from "#server/workflow/pins.ts";
import { nodesUntil } from "#server/workflow/run-until.ts";

type Nodes = Record<string, [type: string, data?: Record<string, unknown>]>;

function until(id: string, nodes: Nodes, edges: string[]) {
  const graph = withPins({
    nodes: Object.entries(nodes).map(([key, [type, data]]) => ({ id: key, type, position: { x: 0, y: 0 }, data: { label: key, ...data } })),
    edges: edges.map((path) => {
      const [from = "", target = ""] = path.split(">");
      const [source = "", sourceHandle] = from.split(".");
      return { id: path, source, target, ...(sourceHandle && { sourceHandle }) };
    }),
  });
  const { needed, given, left_out } = nodesUntil(graph, id);
  return { needed: [...needed].sort().join(" "), given: given.join(" "), left_out: left_out.join(" ") };
}
const pinned = { pinned: { output: "p" } };
const chain: Nodes = { t: ["triggerNode"], A: ["agentNode"], B: ["agentNode"], C: ["agentNode"], aside: ["agentNode"] };
const edges = ["t>A", "A>B", "B>C", "t>aside"];

test("a node needs what comes before it, a node in a loop the whole loop", () => {
  expect(until("B", chain, edges)).toEqual({ needed: "A B t", given: "", left_out: "C aside" });
  const loop: Nodes = { t: ["triggerNode"], L: ["loopNode"], one: ["agentNode"], two: ["agentNode"], after: ["outputNode"] };
  const ways = ["t>L", "L.body>one", "one>two", "L.done>after"];
  expect(until("one", loop, ways)).toEqual({ needed: "L one t two", given: "", left_out: "after" });
  expect(until("after", loop, ways)).toEqual({ needed: "L after one t two", given: "", left_out: "" });
});

test("what only leads to a pinned node is not needed", () => {
  expect(until("C", { ...chain, B: ["agentNode", pinned] }, edges)).toEqual({ needed: "B C t", given: "B", left_out: "A aside" });
  const loop: Nodes = {
    t: ["triggerNode"],
    A: ["agentNode"],
    L: ["loopNode", { pinned: { output: "[1]" } }],
    in: ["agentNode"],
    O: ["outputNode"],
  };
  expect(until("O", loop, ["t>A", "A>L", "L.body>in", "L.done>O"])).toEqual({ needed: "L O t", given: "L", left_out: "A in" });
});

test("a pinned decision passes on what came to it, so that is run", () => {
  const decided: Nodes = { ...chain, B: ["humanLoopNode", { pinned: { output: "approved" } }] };
  const ways = ["t>A", "A>B", "B.approved>C", "t>aside"];
  expect(until("C", decided, ways)).toEqual({ needed: "A B C t", given: "", left_out: "aside" });
  expect(until("C", { ...decided, A: ["agentNode", pinned] }, ways)).toEqual({ needed: "A B C t", given: "A", left_out: "aside" });
});

test("a node before a pinned one runs when it is read by name, and then the pinned one waits for it", () => {
  const nodes: Nodes = { ...chain, B: ["agentNode", pinned], C: ["agentNode", { input: "{{A.output}} {{B.output}}" }] };
  expect(until("C", nodes, edges)).toEqual({ needed: "A B C t", given: "", left_out: "aside" });
  const condition: Nodes = { ...nodes, C: ["branchNode", { condition: 'node_outputs["A"] == output' }] };
  expect(until("C", condition, edges)).toMatchObject({ needed: "A B C t", given: "" });
  const secret: Nodes = {
    ...nodes,
    A: ["agentNode", { agent_id: "a" }],
    C: ["agentNode", { input: "{{credentials.TOKEN}} {{B.output}}" }],
  };
  expect(until("C", secret, edges)).toMatchObject({ given: "B", left_out: "A aside" });
});

import { expect, test } from "vitest";
import { toFlow } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { insertAfter, moveStep } from "#components/workflow-editor/outline/outline-moves.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, x = 0) => ({ id, type, position: { x, y: 0 }, data: { label: id } });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});
const line: Graph = {
  nodes: [node("t", "triggerNode"), node("a", "agentNode", 300), node("b", "agentNode", 600), node("o", "outputNode", 900)],
  edges: [edge("t", "a"), edge("a", "b"), edge("b", "o")],
};
const ways = ({ edges }: Graph) => edges.map((one) => `${one.source}>${one.target}`).toSorted();

test("two steps of a line change places, on the canvas too", () => {
  for (const moved of [moveStep(line, "a", "down"), moveStep(line, "b", "up")]) {
    if ("refusal" in moved) throw new Error(moved.refusal);
    expect(ways(moved.graph)).toEqual(["a>o", "b>a", "t>b"]);
    expect(moved.graph.nodes.map(({ id, position }) => `${id} ${position.x}`)).toEqual(["t 0", "a 600", "b 300", "o 900"]);
  }
  const there = moveStep(line, "a", "down");
  const back = "graph" in there ? moveStep(there.graph, "a", "up") : there;
  expect("graph" in back && ways(back.graph)).toEqual(ways(line));
});

test.each([
  ["the first step above the trigger", line, "a", "up", "A Trigger cannot change places"],
  ["the last step further down", line, "o", "down", "There is no step after o"],
  [
    "a step past a branch",
    { nodes: [...line.nodes, node("br", "branchNode")], edges: [edge("t", "a"), edge("a", "br"), edge("br", "b", "true")] },
    "a",
    "down",
    "A Branch cannot",
  ],
  ["a step that leads two ways", { ...line, edges: [...line.edges, edge("a", "o")] }, "a", "down", "leads to several paths"],
  ["a step past a join", { ...line, edges: [...line.edges, edge("t", "b")] }, "a", "down", "Other paths come between"],
] as const)("%s is refused with the reason", (_, graph, id, direction, reason) => {
  expect(moveStep(graph as Graph, id, direction)).toEqual({ refusal: expect.stringContaining(reason) });
});

test("a new step goes into the edge that leads on, and to the end where none does", () => {
  expect(insertAfter(toFlow(line), "a")).toMatchObject({ edgeId: "a-b" });
  expect(insertAfter(toFlow(line), "o")).toMatchObject({ after: { nodeId: "o", handle: null } });
  const loop: Graph = { nodes: [node("l", "loopNode"), node("a", "agentNode")], edges: [edge("l", "a", "body")] };
  expect(insertAfter(toFlow(loop), "l")).toMatchObject({ after: { nodeId: "l", handle: "done" } });
  expect(insertAfter(toFlow(loop), "l", "body")).toMatchObject({ edgeId: "l-a" });
  expect(insertAfter(toFlow({ nodes: [node("e", "terminateNode")], edges: [] }), "e")).toBeNull();
});

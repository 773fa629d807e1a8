import { expect, test } from "vitest";
import { withoutNodes } from "#server/workflow/choose-changes.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

const node = (id: string, more: Partial<GraphNode> & Record<string, unknown> = {}): GraphNode => ({
  id,
  type: id === "t" ? "triggerNode" : "agentNode",
  position: { x: 0, y: 0 },
  data: { label: id },
  ...more,
});
const edge = (source: string, target: string, sourceHandle?: string): GraphEdge => ({
  id: `${source}-${target}`,
  source,
  target,
  ...(sourceHandle !== undefined && { sourceHandle }),
});
const chain = (...ids: string[]): Graph => ({
  nodes: ids.map((id) => node(id)),
  edges: ids.slice(1).map((id, index) => edge(ids[index] ?? "", id)),
});
const lines = ({ edges }: Graph) =>
  edges.map(({ source, sourceHandle, target }) => [source, sourceHandle, target].filter(Boolean).join(" "));
const names = ({ nodes }: Graph) => nodes.map(({ id }) => id);

test("nothing left out is the change as it is", () => {
  const after = chain("t", "a", "b");
  expect(withoutNodes(chain("t", "a"), after, new Set([]))).toBe(after);
  expect(withoutNodes(chain("t", "a"), after, new Set(["nobody"]))).toEqual(after);
});

test("a changed node is as it was, where it is drawn now; the rest of the change is taken", () => {
  const before = chain("t", "a");
  const after: Graph = {
    nodes: [node("t"), node("a", { position: { x: 400, y: 0 }, data: { label: "a", prompt: "other" } }), node("b")],
    edges: [edge("t", "b"), edge("b", "a")],
  };
  const result = withoutNodes(before, after, new Set(["a"]));
  expect(result.nodes.find(({ id }) => id === "a")).toEqual(node("a", { position: { x: 400, y: 0 } }));
  expect(lines(result)).toEqual(["t b", "b a"]);
});

test("a node that was put into a connection and does not come leaves the connection as it was", () => {
  expect(lines(withoutNodes(chain("t", "a"), chain("t", "x", "a"), new Set(["x"])))).toEqual(["t a"]);
  expect(lines(withoutNodes(chain("t", "a"), chain("t", "x", "y", "a"), new Set(["x", "y"])))).toEqual(["t a"]);
});

test("one of several new nodes in a row is passed by; after it, or where the ways part, there is nothing to lead on to", () => {
  expect(lines(withoutNodes(chain("t"), chain("t", "x", "y", "z"), new Set(["y"])))).toEqual(["t x", "x z"]);
  expect(lines(withoutNodes(chain("t"), chain("t", "x", "y"), new Set(["y"])))).toEqual(["t x"]);
  const parting: Graph = {
    nodes: [node("t"), node("x", { type: "branchNode" }), node("y"), node("z")],
    edges: [edge("t", "x"), edge("x", "y", "true"), edge("x", "z", "false")],
  };
  expect(lines(withoutNodes(chain("t"), parting, new Set(["x"])))).toEqual([]);
});

test("a removed node stays with its connections, and what was led past it leads through it", () => {
  const result = withoutNodes(chain("t", "a", "b"), chain("t", "b"), new Set(["a"]));
  expect(names(result)).toEqual(["t", "b", "a"]);
  expect(lines(result)).toEqual(["t a", "a b"]);
});

test("what is inside a new loop goes with it, and what was moved into it is where it was", () => {
  const after: Graph = {
    nodes: [node("t"), node("l", { type: "loopNode" }), node("a", { parentId: "l" }), node("n", { parentId: "l" })],
    edges: [edge("t", "l"), edge("l", "a", "body"), edge("a", "n")],
  };
  const result = withoutNodes(chain("t", "a"), after, new Set(["l"]));
  expect(result.nodes).toEqual([node("t"), node("a")]);
  expect(lines(result)).toEqual(["t a"]);
});

test("of several nodes that were put into a connection, one that comes is led to and from", () => {
  expect(lines(withoutNodes(chain("t", "a", "b"), chain("t", "a", "x", "y", "b"), new Set(["y"])))).toEqual(["t a", "a x", "x b"]);
  expect(lines(withoutNodes(chain("t", "a", "b"), chain("t", "a", "x", "y", "b"), new Set(["x"])))).toEqual(["t a", "y b", "a y"]);
});

test("a connection that was taken away by itself stays away", () => {
  const before = chain("t", "a", "b");
  const after = { nodes: before.nodes.map((one) => ({ ...one, data: { ...one.data, input: "new" } })), edges: [edge("t", "a")] };
  const chosen = withoutNodes(before, after, new Set(["a"]));
  expect(chosen.nodes.map(({ data }) => data.input)).toEqual(["new", undefined, "new"]);
  expect(lines(chosen)).toEqual(["t a"]);
});

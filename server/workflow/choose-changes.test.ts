import { expect, test } from "vitest";
import { withoutNodes } from "#server/workflow/choose-changes.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, data: Record<string, unknown> = {}) => ({
  id,
  type: id === "start" ? "triggerNode" : "agentNode",
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
});
const edges = (...pairs: string[]) =>
  pairs.map((pair) => {
    const [source = "", target = ""] = pair.split(">");
    return { id: pair, source, target };
  });
const base: Graph = { nodes: ["start", "a", "b"].map((id) => node(id)), edges: edges("start>a", "a>b") };
const pairsOf = (graph: Graph) => graph.edges.map(({ id }) => id).sort();
const without = (proposed: Graph, ...ids: string[]) => withoutNodes(base, proposed, new Set(ids));

test("a node that was put into a connection and is left out leaves it as it was, two of them too", () => {
  const proposed: Graph = { nodes: [...base.nodes, node("x"), node("y")], edges: edges("start>a", "a>x", "x>y", "y>b") };
  expect(pairsOf(without(proposed, "x", "y"))).toEqual(["a>b", "start>a"]);
  expect(pairsOf(without(proposed, "y"))).toEqual(["a>x", "start>a"]);
  expect(without(proposed, "x", "y").nodes.map(({ id }) => id)).toEqual(["start", "a", "b"]);
});

test("a changed node keeps what it was, and a connection that was taken away by itself stays away", () => {
  const proposed: Graph = { nodes: base.nodes.map((one) => node(one.id, { input: "new" })), edges: edges("start>a") };
  const chosen = without(proposed, "a");
  expect(chosen.nodes.map(({ data }) => data.input)).toEqual(["new", undefined, "new"]);
  expect(pairsOf(chosen)).toEqual(["start>a"]);
});

test("a removed node that is left out stays, with its connections", () => {
  const proposed: Graph = { nodes: base.nodes.filter(({ id }) => id !== "a"), edges: edges("start>b") };
  const chosen = without(proposed, "a");
  expect(chosen.nodes.map(({ id }) => id).sort()).toEqual(["a", "b", "start"]);
  expect(pairsOf(chosen)).toEqual(["a>b", "start>a", "start>b"]);
  expect(without(proposed)).toEqual(proposed);
});

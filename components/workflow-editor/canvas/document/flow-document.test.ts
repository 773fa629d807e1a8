import { expect, test } from "vitest";
import { sameGraph, toFlow, toGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import type { Graph } from "#server/workflow/schema.ts";

const graph: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
    {
      id: "a",
      type: "agentNode",
      position: { x: 300, y: 20 },
      data: { label: "Research", agent_id: "1" },
      width: 250,
      custom: { by: "REST" },
    },
    { id: "n", type: "noteNode", position: { x: 0, y: 300 }, data: { content: "# Hi" } },
  ],
  edges: [{ id: "e", source: "t", target: "a", sourceHandle: null, animated: true }],
};

test("a graph comes back as it went in, unknown keys included", () => {
  expect(toGraph(toFlow(graph))).toEqual(graph);
});

test("a graph says nothing about styles, classes and attributes of the page that draws it, and keeps what it said", () => {
  const look = { style: { backgroundImage: "url(https://evil.example/?seen)" }, className: "fixed inset-0", hidden: true };
  const hostile: Graph = {
    nodes: graph.nodes.map((node) => ({ ...node, ...look, dragHandle: "*", ariaRole: "alert", width: { toString: "x" }, zIndex: 3 })),
    edges: graph.edges.map((edge) => ({ ...edge, ...look, type: "step", label: { x: 1 }, labelStyle: look.style, markerEnd: "x')" })),
  };
  const { nodes, edges } = toFlow(hostile);
  for (const node of nodes)
    expect(
      Object.keys(node)
        .filter((key) => !["ariaLabel", "domAttributes", "kept"].includes(key))
        .sort(),
    ).toEqual(["data", "id", "position", "type", "zIndex"]);
  expect(Object.keys(edges[0] ?? {}).sort()).toEqual(["animated", "ariaLabel", "id", "kept", "source", "sourceHandle", "target", "type"]);
  expect(toGraph(toFlow(hostile))).toEqual(hostile);
});

test("what React Flow adds while drawing never reaches the graph", () => {
  const flow = toFlow({
    ...graph,
    nodes: graph.nodes.map((node) => ({ ...node, selected: true, measured: { width: 1 }, dragging: true })),
  });
  const drawn = { ...flow, nodes: flow.nodes.map((node) => ({ ...node, selected: true, measured: { width: 9, height: 9 } })) };
  expect(toGraph(drawn)).toEqual(graph);
});

test("nodes and edges carry the names that people gave", () => {
  const flow = toFlow(graph);
  expect(flow.nodes.map((node) => node.ariaLabel)).toEqual(["Trigger Start", "Agent Research", "Note"]);
  expect(flow.edges[0]?.ariaLabel).toBe("Connection from Start to Research");
});

test("graphs are the same whatever the order of keys and however nothing is written", () => {
  const [edge] = graph.edges;
  expect(sameGraph(graph, { ...graph, edges: [{ animated: true, target: "a", source: "t", id: edge?.id ?? "" }] })).toBe(true);
  expect(sameGraph(graph, { ...graph, edges: [] })).toBe(false);
});

test("a line whose ports are called output and input is drawn between the ports without a name", () => {
  const [edge] = toFlow({ ...graph, edges: [{ id: "e", source: "t", target: "a", sourceHandle: "output", targetHandle: "input" }] }).edges;
  expect(edge).toMatchObject({ source: "t", target: "a" });
  expect([edge?.sourceHandle, edge?.targetHandle]).toEqual([undefined, undefined]);
});

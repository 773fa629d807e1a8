import { expect, test } from "vitest";
import type { Graph } from "#server/workflow/schema.ts";
import { staleNodes } from "#server/workflow/stale.ts";

const node = (id: string, type: string, data: Record<string, unknown> = {}) => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
});
const edge = (path: string) => {
  const [from = "", target = ""] = path.split(">");
  const [source = "", sourceHandle] = from.split(".");
  return { id: path, source, target, ...(sourceHandle && { sourceHandle }) };
};
const before: Graph = {
  nodes: [
    node("t", "triggerNode", { kind: "manual", default_input: "a" }),
    node("A", "agentNode", { agent_id: "1", input: "{{trigger.output}}" }),
    node("B", "agentNode", { agent_id: "1", input: "{{A.output}}" }),
    node("L", "loopNode", { items_expression: "{{B.output}}" }),
    node("in1", "agentNode", { agent_id: "1" }),
    node("in2", "agentNode", { agent_id: "1" }),
    node("O", "outputNode", { value: "{{L.output}}" }),
    node("X", "outputNode", { value: "aside" }),
  ],
  edges: ["t>A", "A>B", "B>L", "L.body>in1", "in1>in2", "L.done>O", "t>X"].map(edge),
};
const edited = (id: string, data: Record<string, unknown>): Graph => ({
  ...before,
  nodes: before.nodes.map((one) => (one.id === id ? { ...one, data: { ...one.data, ...data } } : one)),
});
const stale = (now: Graph, outputs: Record<string, string> = {}, from = before, honoured = true) =>
  Object.fromEntries([...staleNodes(from, now, (id) => outputs[id] ?? null, honoured)].map(([id, reason]) => [id, reason.kind]));

test("what changed is stale, and so is everything after it; moving and renaming change nothing", () => {
  expect(stale(before)).toEqual({});
  expect(stale({ ...before, nodes: before.nodes.map((one) => ({ ...one, position: { x: 9, y: 9 } })) })).toEqual({});
  const renamed = edited("A", { label: "First" });
  const followed = {
    ...renamed,
    nodes: renamed.nodes.map((one) => (one.id === "B" ? { ...one, data: { ...one.data, input: "{{First.output}}" } } : one)),
  };
  expect(stale(followed)).toEqual({});
  expect(stale(edited("t", { default_input: "b" }))).toEqual({});
  expect(stale(edited("B", { input: "other" }))).toEqual({ B: "edited", L: "before", in1: "before", in2: "before", O: "before" });
});

test("a condition and a slug that follow a renamed node change nothing", () => {
  const reading = (label: string, value: string): Graph => ({
    nodes: [
      ...before.nodes.map((one) => (one.id === "A" ? { ...one, data: { ...one.data, label } } : one)),
      node("C", "branchNode", { condition: `"yes" in node_outputs["${label}"]` }),
      node("V", "outputNode", { value }),
    ],
    edges: before.edges,
  });
  expect(stale(reading("The Scout", "{{The Scout.output}}"), {}, reading("Big Agent", "{{big_agent.output}}"))).toEqual({});
  expect(stale(reading("Big Agent", "{{other.output}}"), {}, reading("Big Agent", "{{big_agent.output}}"))).toEqual({ V: "edited" });
});

test("what is switched off may change its settings, and its agent, without a result changing", () => {
  const off = (graph: Graph, ...ids: string[]): Graph => ({
    ...graph,
    nodes: graph.nodes.map((one) => (ids.includes(one.id) ? { ...one, data: { ...one.data, disabled: true } } : one)),
  });
  const without = off(before, "B");
  expect(stale(off(edited("B", { input: "other" }), "B"), {}, without)).toEqual({});
  expect(stale(off(edited("B", { agent_id: "other" }), "B"), {}, without)).toMatchObject({ B: "edited" }); // its name, by which it is read
  expect([
    ...staleNodes(
      without,
      without,
      () => null,
      true,
      ({ id }) => id === "B",
    ),
  ]).toEqual([]);
  // It lets through what comes before it.
  expect(stale(off(edited("A", { input: "other" }), "B"), {}, without)).toMatchObject({ A: "edited", B: "before", L: "before" });
  expect(stale(edited("B", { input: "other" }), {}, without)).toMatchObject({ B: "edited", L: "before" });
  expect(stale(without)).toMatchObject({ B: "edited", L: "before" });
  // The body of a loop that is switched off does nothing either.
  expect(stale(off(edited("in2", { input: "other" }), "L"), {}, off(before, "L"))).toEqual({});
  // One that would come to stand behind the loop is another step.
  expect(stale(off(edited("in2", { input: "{{L.output}}" }), "in2"), {}, off(before, "in2"))).not.toEqual({});
});

test("a change in a loop's body makes the loop stale, but not what comes before it in there", () => {
  expect(stale(edited("in2", { input: "other" }))).toEqual({ in2: "edited", L: "body", O: "before" });
});

test("new nodes and other connections", () => {
  const more = {
    nodes: [...before.nodes, node("N", "agentNode")],
    edges: [...before.edges.filter(({ id }) => id !== "A>B"), edge("A>N"), edge("N>B")],
  };
  expect(stale(more)).toMatchObject({ N: "new", B: "rewired", O: "before" });
  expect(stale(more)).not.toHaveProperty("A");
  expect(stale({ ...before, edges: before.edges.filter(({ id }) => id !== "t>X") })).toEqual({ X: "rewired" });
});

test("a pin holds what comes before it off, unless it says something else than the run did", () => {
  const pinned = edited("B", { pinned: { output: "b" } });
  const both = { ...pinned, nodes: pinned.nodes.map((one) => (one.id === "A" ? { ...one, data: { ...one.data, input: "other" } } : one)) };
  expect(stale(both, { B: "b" })).toEqual({ A: "edited" });
  expect(stale(pinned, { B: "another" })).toMatchObject({ B: "pinned", O: "before" });
  expect(stale(before, { B: "b" }, pinned)).toMatchObject({ B: "pinned", O: "before" });
  // A saved version passes its pins over, so its node did run.
  expect(stale(before, { B: "b" }, pinned, false)).toEqual({});
  // In a body there is no one output; that the same was pinned then is enough.
  const inBody = edited("in1", { pinned: { output: "p" } });
  expect(stale(inBody, {}, inBody)).toEqual({});
  expect(stale(inBody, {}, inBody, false)).toMatchObject({ in1: "pinned", L: "body" });
});

test("a node whose agent was changed after it ran is stale, and so is what follows; a pin holds it off", () => {
  const withAgent = (graph: Graph, ...ids: string[]) =>
    Object.fromEntries(
      [
        ...staleNodes(
          before,
          graph,
          () => "b",
          true,
          ({ id }) => ids.includes(id),
        ),
      ].map(([id, reason]) => [id, reason.kind]),
    );
  expect(withAgent(before, "B")).toEqual({ B: "agent", L: "before", in1: "before", in2: "before", O: "before" });
  expect(withAgent(before, "in2")).toEqual({ in2: "agent", L: "body", O: "before" });
  expect(withAgent(edited("B", { input: "other" }), "B")).toMatchObject({ B: "edited" });
  expect(withAgent(edited("B", { pinned: { output: "b" } }), "B")).toEqual({});
});

test("behind a pinned decision, what changed before it still counts: its content goes on", () => {
  const decided = (input: string, condition = "True"): Graph => ({
    nodes: [
      node("t", "triggerNode", { kind: "manual" }),
      node("A", "agentNode", { agent_id: "1", input }),
      node("C", "branchNode", { condition, pinned: { output: "True" } }),
      node("O", "outputNode"),
    ],
    edges: ["t>A", "A>C", "C.true>O"].map(edge),
  });
  const outputs = { C: "True" };
  expect(stale(decided("new"), outputs, decided("old"))).toEqual({ A: "edited", O: "before" });
  expect(stale(decided("old", "False"), outputs, decided("old"))).toEqual({});
});

import { expect, test } from "vitest";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { checkConnection, findFaults, handlesOf, handleTitle } from "#server/workflow/graph.ts";
import { pinFault, pinOf } from "#server/workflow/pins.ts";
import { findProblems } from "#server/workflow/problems.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import { Graph, type GraphNode } from "#server/workflow/schema.ts";

// Texts that stand deeper in a config than its fields are found wherever others look for them.

const node = (id: string, type: string, data = {}): GraphNode => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const graph = (nodes: GraphNode[], edges: string[]): Graph =>
  Graph.parse({
    nodes: [node("t", "triggerNode"), ...nodes],
    edges: edges.map((text) => {
      const [source = "", target = ""] = text.split(">");
      const [id = "", sourceHandle] = source.split(".");
      return { id: text, source: id, target, ...(sourceHandle && { sourceHandle }) };
    }),
  });
const scope = { agentName: () => undefined };
const field = (name: string, value: string, type = "text") => ({ name, value, type });
const one = (id: string, condition: string, label = id) => ({ id, label, condition });

test("expressions in lists are checked, and the problem says which", () => {
  const set = node("s", "setNode", { fields: [field("a", "{{t.output}}"), field("b", "{{Nobody.output | upper}}{{t.output | uper}}")] });
  expect(findProblems(graph([set], ["t>s"]), scope)).toMatchObject([
    { node_id: "s", field: "fields.1.value", message: expect.stringContaining("names nothing in this workflow") },
    { node_id: "s", field: "fields.1.value", message: expect.stringContaining('Did you mean "upper"?') },
  ]);
});

test("what is missing of a Set or a Switch is a problem, and what breaks its bounds is refused at save", () => {
  const messages = (one: GraphNode) =>
    findProblems(graph([one], [`t>${one.id}`]), { ...scope, conditionFault: (text) => (text === "bad" ? "It is bad." : undefined) }).map(
      ({ field: at, message }) => `${at}: ${message}`,
    );
  expect(messages(node("s", "setNode"))).toEqual(["fields: Add a field, or keep the input."]);
  expect(messages(node("s", "setNode", { fields: [field("", "1"), field("x", "1"), field("x ", "2")] }))).toEqual([
    "fields: Give each field a name.",
    'fields: Two fields are named "x". Keep one of them.',
  ]);
  expect(messages(node("w", "switchNode", { cases: [one("1", " "), one("2", "bad", "1"), one("3", "True", "Default")] }))).toEqual([
    'cases.0.condition: Write the condition of "1".',
    'cases.1.condition: "1": It is bad.',
    'cases: Two cases are called "1". Give each a label of its own.',
    'cases: A case cannot be called "default": that is the way when none holds.',
  ]);
  const faults = (data: object) => findFaults(graph([node("w", "switchNode", data)], ["t>w"])).map(({ field: at }) => at);
  expect(faults({ cases: [] })).toEqual(["data.cases"]);
  expect(faults({ cases: Array.from({ length: 21 }, (_, index) => one(String(index), "True")) })).toEqual(["data.cases"]);
  expect(faults({ cases: [one("a", "True"), one("a", "True", "b")] })).toEqual(["data.cases"]);
  expect(faults({ cases: [one("a b", "True")] })).toEqual(["data.cases.0.id"]);
  expect(faults({ cases: [{ ...one("a", "True"), more: 1 }] })).toEqual(["data.cases.0"]);
});

test("a switch has a way out for each case and one for the rest, and no other", () => {
  const flow = graph(
    [node("w", "switchNode", { cases: [one("x", "True", "Hot")] }), node("a", "outputNode"), node("b", "outputNode")],
    ["t>w"],
  );
  const [, made] = flow.nodes;
  if (!made) throw new Error("The graph has no switch.");
  expect(handlesOf(made)).toEqual(["case:x", "default"]);
  expect(handleTitle(made, "case:x")).toBe("Hot");
  expect(checkConnection(flow, { source: "w", target: "a", sourceHandle: "case:x" })).toBeNull();
  expect(checkConnection(flow, { source: "w", target: "a", sourceHandle: "case:y" })).toContain("case:x or default");
  expect(checkConnection(flow, { source: "w", target: "a" })).toContain("Say which way out");
  expect(findFaults(graph(flow.nodes.slice(1), ["t>w", "w.case:gone>a"]))).toHaveLength(1);
  const pinned = (output: string) => ({ ...made, data: { ...made.data, pinned: { output } } });
  expect(pinOf(pinned("Hot"))).toEqual({ output: "Hot", handle: "case:x" });
  expect(pinOf(pinned("default"))).toEqual({ output: "default", handle: "default" });
  expect(pinFault(made, "Cold")).toContain("Hot, default");
});

test("a renamed node is followed into lists, and a credential that stands there is known to be read", () => {
  const names = (label: string) => namesFrom([["n", label]]);
  const fields = [field("a", "{{Old.output}}"), field("b", "plain")];
  expect(withNames("setNode", { fields }, names("Old"), names("New"))).toEqual({ fields: [field("a", "{{New.output}}"), fields[1]] });
  const cases = [one("1", 'node_outputs["Old"] == "x"')];
  expect(withNames("switchNode", { cases }, names("Old"), names("New"))).toEqual({ cases: [one("1", 'node_outputs["New"] == "x"')] });
  expect(withNames("switchNode", { cases }, names("Other"), names("New"))).toEqual({ cases });
  const secret = graph([node("s", "setNode", { fields: [field("a", "{{credentials.KEY}}")] })], ["t>s"]);
  expect([...compileGraph(secret).credentials]).toEqual(["KEY"]);
});

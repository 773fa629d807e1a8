import { expect, test } from "vitest";
import { namesFrom, renameAgents, withNames, withoutFormerNames } from "#server/workflow/rename.ts";
import type { Graph } from "#server/workflow/schema.ts";

const others = [["o", "Other"] as const, ["l", "Each"] as const];
const names = (label: string) => namesFrom([["a", label], ...others]);
/** One field after "Research Agent" was called "Scout". */
const renamed = (type: string, field: string, text: string, to = "Scout") =>
  withNames(type, { [field]: text }, names("Research Agent"), names(to))[field];

test("expressions follow by name and by slug, in every field that is a template", () => {
  const texts = [
    "{{Research Agent.output}}",
    "{{ Research Agent .output[0].id}}",
    "{{research_agent.output}}",
    "{{RESEARCH-AGENT.output}}",
  ];
  const fields = [
    ["agentNode", "input"],
    ["outputNode", "value"],
    ["loopNode", "items_expression"],
    ["humanLoopNode", "title"],
    ["humanLoopNode", "description"],
    ["humanLoopNode", "display_value"],
    ["terminateNode", "message"],
    ["noteNode", "content"],
  ] as const;
  for (const [type, field] of fields)
    for (const text of texts) expect(renamed(type, field, `a ${text} b`)).toBe(`a {{Scout${text.slice(text.search(/[.[]/))} b`);
});

test("a slug that still leads to the node stays as it was written, and one that would lead elsewhere is written out", () => {
  expect(renamed("outputNode", "value", "{{research_agent.output}} {{Research Agent.output}}", "Research agent")).toBe(
    "{{research_agent.output}} {{Research agent.output}}",
  );
  // The new name takes the slug by which another node was read.
  const before = namesFrom([["a", "Old"] as const, ["b", "Big Data"] as const]);
  const after = namesFrom([["a", "big_data"] as const, ["b", "Big Data"] as const]);
  expect(withNames("outputNode", { value: "{{big_data.output}} {{Old.output}}" }, before, after)).toEqual({
    value: "{{Big Data.output}} {{big_data.output}}",
  });
});

test("what only looks like the name is left alone", () => {
  for (const text of [
    "Research Agent",
    "{{Research Agents.output}}",
    "{{Other.Research Agent}}",
    "{{trigger.output}} Research Agent.output",
    "{{Research Agent}}",
    "{Research Agent.output}",
  ])
    expect(renamed("outputNode", "value", text)).toBe(text);
  // No templates: a default input, a pinned output, a definition that an import keeps.
  for (const [type, field] of [
    ["triggerNode", "default_input"],
    ["agentNode", "agent_id"],
  ] as const)
    expect(renamed(type, field, "{{Research Agent.output}}")).toBe("{{Research Agent.output}}");
  const data = { pinned: { output: "{{Research Agent.output}}" }, input: "hello" };
  expect(withNames("agentNode", data, names("Research Agent"), names("Scout"))).toBe(data);
});

test.each([
  [`"yes" in node_outputs["Research Agent"]`, `"yes" in node_outputs["Scout"]`],
  [`node_outputs['Research Agent'] == "Research Agent"`, `node_outputs['Scout'] == "Research Agent"`],
  [`node_outputs [ r"Research Agent" ] != ''`, `node_outputs [ "Scout" ] != ''`],
  [`node_outputs["""Research Agent"""]`, `node_outputs["Scout"]`],
  [String.raw`node_outputs["Research\x20Agent"]`, `node_outputs["Scout"]`],
  [`node_outputs.get("Research Agent", "Research Agent")`, `node_outputs.get("Scout", "Research Agent")`],
  [`"Research Agent" in node_outputs and 'Research Agent' not in node_outputs`, `"Scout" in node_outputs and 'Scout' not in node_outputs`],
  [`len(f"{node_outputs['Research Agent']} Research Agent") > 3`, `len(f"{node_outputs['Scout']} Research Agent") > 3`],
])("a condition follows: %s", (condition, expected) => {
  expect(renamed("branchNode", "condition", condition)).toBe(expected);
});

test.each([
  `"Research Agent" in output`,
  `"Research Agent" in node_outputs["Other"]`,
  `"node_outputs['Research Agent']" in output`,
  `True # node_outputs["Research Agent"]`,
  `node_outputs["research_agent"]`,
  `node_outputs["Research" "Agent"]`,
  `"My " + "Research Agent" in node_outputs`,
  `my.node_outputs["Research Agent"]`,
  `"{{Research Agent.output}}" in node_outputs`,
  `node_outputs["Research Agent`,
])("a condition stays: %s", (condition) => {
  expect(renamed("branchNode", "condition", condition)).toBe(condition);
});

test("a name with quotes and backslashes is written as Python reads it", () => {
  expect(renamed("branchNode", "condition", `node_outputs["Research Agent"]`, String.raw`Say "hi" \ twice`)).toBe(
    String.raw`node_outputs["Say \"hi\" \\ twice"]`,
  );
});

const AGENT = "018f4e1c-0000-7000-8000-000000000001";
const OTHER = "018f4e1c-0000-7000-8000-000000000002";

/** A workflow in which two nodes use the agent, with one further node of these fields. */
const withReader = (type: string, data: object, label = "Two"): Graph => ({
  nodes: [
    { id: "one", type: "agentNode", position: { x: 0, y: 0 }, data: { label: "One", agent_id: AGENT } },
    { id: "two", type: "agentNode", position: { x: 0, y: 0 }, data: { label, agent_id: AGENT } },
    { id: "three", type: "agentNode", position: { x: 0, y: 0 }, data: { label: "Three", agent_id: OTHER } },
    { id: "reader", type, position: { x: 0, y: 0 }, data: { label: "Reader", ...data } },
  ],
  edges: [],
});
const renameTo = (graph: Graph, name: string, from = "Scout") =>
  renameAgents(graph, { [AGENT]: from, [OTHER]: "Critic" }, { [AGENT]: name, [OTHER]: "Critic" });
const readerOf = ({ graph }: { graph: Graph }) => graph.nodes.at(-1)?.data;

test.each([
  ["outputNode", "value", "{{Scout.output}} {{scout.output | trim}}", "{{Writer.output}} {{Writer.output | trim}}"],
  ["loopNode", "items_expression", "{{Scout.output.items[0]}}", "{{Writer.output.items[0]}}"],
  [
    "setNode",
    "fields",
    [{ name: "a", value: "{{Scout.output.x.y}}", type: "text" }],
    [{ name: "a", value: "{{Writer.output.x.y}}", type: "text" }],
  ],
  ["branchNode", "condition", `f"{node_outputs['Scout']}" != r'''Scout'''`, `f"{node_outputs['Writer']}" != r'''Scout'''`],
  ["branchNode", "condition", `"Scout" in node_outputs.keys()`, `"Writer" in node_outputs.keys()`],
])("%s.%s follows the new name of an agent", (type, field, before, after) => {
  const renamed = renameTo(withReader(type, { [field]: before }), "Writer");

  expect(readerOf(renamed)?.[field]).toEqual(after);
  expect(renamed).toMatchObject({ isRead: true, faults: [] });
});

test("a label of the same spelling keeps what reads it when the agent is renamed", () => {
  const graph = withReader("outputNode", { value: "{{Scout.output}}" }, "Scout");

  expect(renameTo(graph, "Writer")).toEqual({ graph, isRead: false, faults: [] });
});

test.each([
  ["a label", "Reader", "outputNode", { value: "{{Scout.output}}" }],
  ["a reserved name", "trigger", "outputNode", { value: "{{Scout.output}}" }],
  ["a name that hides a label with a path", "Three.output", "outputNode", { value: "{{Three.output.x}}" }],
  ["computed keys", "Writer", "branchNode", { condition: `any(k.startswith("Sc") for k in node_outputs)` }],
  ["a computed key", "Writer", "branchNode", { condition: `node_outputs["Sc" + "out"] == ""` }],
  ["joined literals", "Writer", "branchNode", { condition: `node_outputs["Sc" "out"] == ""` }],
])("a rename is a fault for %s", (_, name, type, data) => {
  expect(renameTo(withReader(type, data), name).faults).toMatchObject([{ node_id: "reader" }]);
});

test("Python that takes no keys of node_outputs stands in no rename's way", () => {
  const graph = withReader("branchNode", { condition: `len(node_outputs) > 1 or "x" in "".join(node_outputs.values())` });

  expect(renameTo(graph, "Writer")).toEqual({ graph, isRead: false, faults: [] });
});

test("the label of the agent's only node reads the same as the agent's new name", () => {
  const graph = withReader("outputNode", { value: "{{Critic.output}}" });
  const renamed = renameAgents(graph, { [AGENT]: "Scout", [OTHER]: "Critic" }, { [AGENT]: "Scout", [OTHER]: "Three" });

  expect(renamed.faults).toEqual([]);
  expect(readerOf(renamed)?.value).toBe("{{Three.output}}");
});

test("a former name that nothing has now is written as the current one", () => {
  const graph = withReader("outputNode", { value: "{{GPT-4.1 Scout.output}} {{Critic.output}}" });
  const agents = [
    { id: AGENT, name: "Writer", former_names: ["Scout", "GPT-4.1 Scout"] },
    { id: OTHER, name: "Critic", former_names: ["Writer"] },
  ];

  expect(readerOf({ graph: withoutFormerNames(graph, agents) })?.value).toBe("{{Writer.output}} {{Critic.output}}");
});

test("a graph with more expressions than a rename looks through is a fault", () => {
  const graph = withReader("outputNode", { value: "{{Scout.output}}".repeat(20_001) });

  expect(renameTo(graph, "Writer")).toMatchObject({ graph, faults: [{ message: expect.stringContaining("20,000") }] });
  expect(withoutFormerNames(graph, [{ id: AGENT, name: "Writer", former_names: ["Scout"] }])).toBe(graph);
});

test("a former name of two agents is left as it stands", () => {
  const graph = withReader("outputNode", { value: "{{Old.output}}" });
  const agents = [AGENT, OTHER].map((id) => ({ id, name: `New ${id}`, former_names: ["Old"] }));

  expect(withoutFormerNames(graph, agents)).toBe(graph);
});

import { expect, test } from "vitest";
import { namesFrom, withNames } from "#server/workflow/rename.ts";

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

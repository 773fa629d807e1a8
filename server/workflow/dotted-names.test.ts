import { expect, test } from "vitest";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { newRun } from "#server/testing/new-run.ts";
import { isNameOf, referencesOf } from "#server/workflow/expressions.ts";
import { findFaults } from "#server/workflow/graph.ts";
import { withPins } from "#server/workflow/pins.ts";
import { findProblems } from "#server/workflow/problems.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import { nodesUntil } from "#server/workflow/run-until.ts";

// Names with dots and brackets in them: the name is the longest one of the workflow that a dot, a bracket or the end follows.

/** The agents of these tests are called "Agent <id>". */
const agent = (id: string, more: object = {}): [string, Record<string, unknown>] => ["agentNode", { agent_id: id, ...more }];

async function textOf(value: string, nodes: Golden["nodes"]) {
  const edges = Object.keys(nodes).map((id, index, ids) => `${index === 0 ? "t" : ids[index - 1]}>${id}`);
  const last = Object.keys(nodes).at(-1);
  const run = newRun({ t: ["triggerNode"], ...nodes, end: ["outputNode", { value }] }, [...edges, `${last}>end`], '{"a": 1}');
  expect(run.problems()).toEqual([]);
  await run.go();
  expect(run.memory.ending()?.status).toBe("completed");
  return run.memory.run.ledger.find(({ node_id }) => node_id === "end")?.output;
}

const models: Golden["nodes"] = {
  one: agent("x.9", { label: "First", input: '{"k": ["v"]}' }),
  two: agent("x", { label: "v1.2 [beta]", input: "two" }),
  three: agent("y", { label: "v1", input: '{"output": "deep", "2 [beta]": {"output": "wrong"}}' }),
};

test.each([
  ["{{Agent x.9.output}}", '{"k": ["v"]}'],
  ["{{ agent X.9 .output.k[0]}}", "v"],
  ["{{agent_x_9.output.k}}", '["v"]'],
  ["{{v1.2 [beta].output}}", "two"],
  ['{{v1.2 [beta]["output"]}}', "two"],
  ["{{v1_2_beta.output}}", "two"],
  ["{{v1.output.output}}", "deep"],
  ["{{Agent x.output}} {{trigger.output.a}}", "two 1"],
])("%s reads %s", async (value, expected) => expect(await textOf(value, models)).toBe(expected));

test("a label beats an agent's name of the same spelling, and the longer name the shorter", async () => {
  const nodes: Golden["nodes"] = {
    one: agent("a.b", { label: "One", input: "by the agent's name" }),
    two: agent("z", { label: "Agent a.b", input: "by the label" }),
    three: agent("y", { label: "Agent a", input: '{"b": {"output": "by a path"}}' }),
  };
  expect(await textOf("{{Agent a.b.output}}", nodes)).toBe("by the label");
  expect(await textOf("{{Agent a.output.b.output}}", nodes)).toBe("by a path");
});

test("a name that ends where the expression does reads nothing, so it hides no shorter one", async () => {
  const nodes: Golden["nodes"] = {
    one: agent("1", { label: "Data", input: "short" }),
    two: agent("2", { label: "Data.output", input: "long" }),
  };
  expect(await textOf("{{Data.output}} {{Data.output.output}}", nodes)).toBe("short long");
  const graph = graphOf({
    nodes: { t: ["triggerNode"], two: ["outputNode", { label: "v1.2 [beta]" }], o: ["outputNode", { value: "{{v1.2 [beta]}}" }] },
    edges: ["t>two", "two>o"],
  });
  const said = findProblems(graph, { agentName: (id) => `Agent ${id}` }).map(({ message }) => message);
  expect(said).toContain("{{v1.2 [beta]}} needs a part after the name, for example {{v1.2 [beta].output}}.");
});

test("a slug stands for a name, and not for a name and its field", async () => {
  const nodes: Golden["nodes"] = {
    one: agent("1", { label: "Writer", input: '{"x": 1}' }),
    two: agent("2", { label: "Writer output" }),
    three: agent("3.5"),
  };
  expect(await textOf("{{Writer.output.x}}", nodes)).toBe("1");
});

test("loops with dots in their names give their items inside, and their results after", async () => {
  const nodes: Golden["nodes"] = {
    t: ["triggerNode"],
    l: ["loopNode", { label: "Each v1.0", items_expression: '["a","b"]' }],
    in: ["outputNode", { value: "{{Each v1.0.index}}{{Each v1.0.current_item}}" }],
    after: ["outputNode", { value: "{{Each v1.0.output[1]}} {{each_v1_0.output}}" }],
  };
  const run = newRun(nodes, ["t>l", "l.body>in", "in>after"]);
  expect(run.problems()).toEqual([]);
  await run.go();
  expect(run.memory.ending()?.output).toBe(JSON.stringify({ in: ["0a", "1b"], after: '1b ["0a","1b"]' }));
});

test("a run up to a node has what it reads by a name with dots", () => {
  const nodes: Golden["nodes"] = {
    t: ["triggerNode"],
    ...models,
    p: ["agentNode", { pinned: { output: "p" } }],
    o: ["outputNode", { value: "{{v1.2 [beta].output}}" }],
  };
  const graph = withPins(graphOf({ nodes, edges: ["t>one", "one>two", "two>three", "three>p", "p>o"] }));
  expect([...nodesUntil(graph, "o").needed].sort()).toEqual(["o", "one", "p", "t", "two"].concat("three").sort());
});

test("expressions follow a rename to, from and between names with dots; an agent's dotted name is left alone", () => {
  const follow = (text: string, from: string, to: string, others: string[] = []) => {
    const names = (label: string) => namesFrom([["a", label] as const, ...others.map((other) => [other, other] as const)]);
    return withNames("outputNode", { value: text }, names(from), names(to)).value;
  };
  expect(follow("{{Writer.output.x}}", "Writer", "GPT-4.1 Writer")).toBe("{{GPT-4.1 Writer.output.x}}");
  expect(follow("{{ GPT-4.1 Writer .output[0]}} {{gpt_4_1_writer.output}}", "GPT-4.1 Writer", "Writer")).toBe(
    "{{Writer.output[0]}} {{Writer.output}}",
  );
  expect(follow("{{v1.2 [b].output}} {{v1.output}}", "v1.2 [b]", "v1.3", ["v1"])).toBe("{{v1.3.output}} {{v1.output}}");
  expect(follow("{{v1.2 [b].output}} {{v1.output}}", "v1", "v2", ["v1.2 [b]"])).toBe("{{v1.2 [b].output}} {{v2.output}}");
  expect(follow("{{GPT-4.1 Writer.output}}", "GPT-4", "Old model")).toBe("{{GPT-4.1 Writer.output}}");
});

test("what is misspelt is told with the name that was meant", () => {
  const nodes: Golden["nodes"] = {
    t: ["triggerNode"],
    one: agent("1", { label: "GPT-4.1 Writer" }),
    o: ["outputNode", { value: "{{GPT-4.1 Writr.output.x}}" }],
  };
  const graph = graphOf({ nodes, edges: ["t>one", "one>o"] });
  const scope = { agentName: () => "Scout" };
  const problems = findProblems(graph, scope).map(({ message }) => message);
  expect(problems).toEqual(['{{GPT-4.1 Writr.output.x}} names nothing in this workflow. Did you mean "GPT-4.1 Writer"?']);
});

test("a label with braces is refused by a save, and what was saved with one goes on running", () => {
  for (const label of ["{a", "a}", "{{trigger.output}}"]) {
    const graph = graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode", { label }] }, edges: ["t>o"] });
    expect(findFaults(graph)).toMatchObject([{ path: "nodes.1.data.label", node_id: "o" }]);
    expect(findProblems(graph, { agentName: () => undefined })).toEqual([]);
  }
});

test("however many dots there are, few names are tried", () => {
  let asked = 0;
  const isName = (text: string) => {
    asked += text.length;
    return false;
  };
  expect(referencesOf(`{{${"a.".repeat(50_000)}b}}`, isName)).toHaveLength(1);
  expect(asked).toBeLessThan(200 * 200);
  expect(isNameOf(["Writer", "Research Agent"])).toBeUndefined();
});

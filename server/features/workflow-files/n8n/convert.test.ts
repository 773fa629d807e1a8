import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readImport } from "#server/features/workflow-files/import.ts";
import { codeFault, runCode } from "#server/runs/effects/code.ts";
import { conditionFault, evaluateCondition } from "#server/runs/effects/conditions.ts";
import { overlapsIn } from "#server/workflow/layout/place.ts";
import { findProblems } from "#server/workflow/problems.ts";

const folder = join(import.meta.dirname, "examples");
const example = (name: string): Record<string, unknown> => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
const { signal } = new AbortController();

/** A converted file by the names of its nodes. */
async function converted(raw: Record<string, unknown>) {
  const { file, report } = await readImport(raw);
  const label = new Map(file.nodes.map((node) => [node.id, String(node.data.label)]));
  const node = (name: string) => file.nodes.find(({ data }) => data.label === name) ?? expect.fail(`there is no ${name}`);
  const edges = file.edges.map(
    ({ source, target, sourceHandle }) => `${label.get(source)}${sourceHandle ? ` ${sourceHandle}` : ""} > ${label.get(target)}`,
  );
  const toDo = (name: string) => report?.to_do.flatMap(({ node_id, message }) => (label.get(node_id) === name ? [message] : [])) ?? [];
  const problems = findProblems(file, { agentName: () => undefined, credentialNames: [] }).map(
    ({ node_id, message }) => `${label.get(node_id ?? "")}: ${message}`,
  );
  return { file, report, node, edges, toDo, problems };
}

const node = (name: string, type: string, parameters: object = {}, more: object = {}) => ({
  ...{ name, type: `n8n-nodes-base.${type}`, typeVersion: 1, position: [0, 0], parameters },
  ...more,
});
const chain = (...names: string[]) =>
  Object.fromEntries(names.slice(1).map((name, index) => [names[index], { main: [[{ node: name, type: "main", index: 0 }]] }]));

test.each(readdirSync(folder).map((file) => file.replace(/\.json$/, "")))(
  "%s comes in as a graph that can be saved and lies side by side",
  async (name) => {
    const { file, report } = await converted(example(name));
    const data = Object.fromEntries(file.nodes.map((node) => [node.id, node.data]));
    expect([...overlapsIn({ nodes: file.nodes, edges: file.edges, data })]).toEqual([]);
    expect(report?.nodes).toHaveLength((example(name).nodes as unknown[]).length);
  },
);

test("a webhook with branches runs as it did: nothing is left to do but what no file can say", async () => {
  const { file, node, edges, problems, report } = await converted(example("orders"));
  expect(problems).toEqual([]);
  expect(node("Webhook")).toMatchObject({ type: "triggerNode", data: { kind: "http", allowed_methods: ["POST"], response_mode: "sync" } });
  expect(node("Order").data.fields).toEqual([
    { name: "total", value: "{{trigger.output.body.total}}", type: "number" },
    { name: "customer", value: '{{trigger.output.body.customer.name | trim | default("nobody")}}', type: "text" },
  ]);
  // What does nothing is gone, and a branch may not follow a branch.
  expect(edges).toEqual([
    "Webhook > Order",
    "Order > Large?",
    "Large? true > Known?",
    "Large? false > Usual",
    "Known? case:true > Priority",
    "Known? default > Usual",
  ]);
  expect(node("Known?").type).toBe("switchNode");
  const condition = String(node("Large?").data.condition);
  expect(await conditionFault(condition, "project", signal)).toBeUndefined();
  const holds = (total: number, customer: string) =>
    evaluateCondition(
      condition,
      { output: "", trigger_output: "", node_outputs: { Order: JSON.stringify({ total, customer }) } },
      () => signal,
      "project",
    );
  expect([await holds(250, "Ada"), await holds(99, "Ada"), await holds(250, "nobody")]).toEqual([true, false, false]);
  expect(node("Priority").data).toMatchObject({
    format: "json",
    value: '{ "queue": "priority", "customer": "{{Order.output.customer}}", "total": {{Order.output.total}} }',
  });
  expect(node("Usual").data.value).toBe("usual: {{Order.output.customer}}");
  expect(report?.nodes.find(({ name }) => name === "Nothing")).toEqual({
    name: "Nothing",
    type: "n8n-nodes-base.noOp",
    node_id: null,
    became: null,
  });
  expect(file.name).toBe("Orders");
});

test("a list becomes a loop, an agent keeps its prompt and model, and what is not here a note", async () => {
  const { file, node, edges, toDo, problems } = await converted(example("digest"));
  expect(node("Every morning").data).toMatchObject({ kind: "schedule", cron_expression: "30 8 * * 1,3,5", timezone: "Europe/Berlin" });
  expect(node("Get articles").data).toMatchObject({
    url: "https://api.example.com/articles",
    timeout: 10,
    retries: 3,
    auth: { kind: "header", credential: "NEWS_API" },
    query: [
      { name: "tag", value: "{{credentials.TAG}}" },
      { name: "since", value: "{{ $now.minus(1, 'day').toISO() }}" },
    ],
  });
  expect(node("Articles")).toMatchObject({ type: "loopNode", data: { items_expression: "{{Get articles.output.articles}}" } });
  expect(node("Title").data.fields).toEqual([{ name: "title", value: "{{Articles.current_item.title | upper}}", type: "text" }]);
  expect(edges).toEqual([
    "Every morning > Get articles",
    "Get articles > Articles",
    "Articles body > Has a text",
    "Has a text true > Title",
    "Title > All titles",
    "All titles > AI Agent",
    "AI Agent > Done",
  ]);
  const condition = String(node("Has a text").data.condition);
  const holds = (item: object) =>
    evaluateCondition(condition, { output: JSON.stringify(item), trigger_output: "", node_outputs: {} }, () => signal, "project");
  expect([await holds({ text: "", title: "Good NEWS" }), await holds({ text: "", title: "Weather" })]).toEqual([true, false]);
  const { code, inputs } = node("All titles").data as { code: string; inputs: { name: string; value: string }[] };
  expect(inputs).toEqual([{ name: "text", value: "{{Articles.output}}" }]);
  expect(await runCode({ code, inputs: { text: '[{"title":"A"},{"title":"B"}]' }, timeout: 5 }, signal, "project")).toMatchObject({
    output: '{"titles":["A","B"]}',
  });

  expect(file.requires.agents).toMatchObject([
    {
      key: "agent-1",
      provider: "openai",
      model: "gpt-4o-mini",
      temperature: 0.3,
      system_prompt: "You write short digests.",
      tools: ["web_search"],
    },
  ]);
  expect(node("AI Agent").data).toMatchObject({ agent_id: "agent-1", input: 'Sum up: {{All titles.output.titles | join(", ")}}' });
  expect(node("Done").data.fields).toMatchObject([{ value: "{{AI Agent.output}}" }, { value: "{{Send Email.output.messageId}}" }]);

  expect(node("Send Email")).toMatchObject({ type: "noteNode", data: { content: expect.stringContaining("team@example.com") } });
  expect(toDo("Send Email")).toEqual([expect.stringContaining("no “emailSend” here")]);
  expect(toDo("AI Agent")).toEqual([expect.stringContaining("Memory")]);
  expect(toDo("Get articles")).toEqual(
    expect.arrayContaining([expect.stringContaining("pagination"), expect.stringContaining("NEWS_API")]),
  );
  expect(toDo("Every morning")).toEqual([expect.stringContaining("once for every item"), expect.stringContaining("error workflow")]);
  expect(node("When clicking ‘Test workflow’").type).toBe("noteNode");
  expect(node("Sticky Note").data).toMatchObject({ content: "## Digest\nEvery other morning" });
  // A secret that somebody typed in does not come in for everybody to read.
  expect(JSON.stringify(file)).not.toContain("wrong1place2for3a4secret");
  expect(file.masked).toEqual([expect.objectContaining({ name: "Get articles", field: "headerParameters" })]);
  expect(problems).toEqual([
    expect.stringMatching(/^Get articles: The project has no credential "NEWS_API"/),
    expect.stringMatching(/^Get articles: .*credential "TAG"/),
    expect.stringMatching(/^Get articles: .*is written as in n8n/),
    expect.stringMatching(/^AI Agent: /),
    expect.stringMatching(/^Done: {{Send Email.output.messageId}} names nothing/),
  ]);
});

test("a form asks the same, code stands as remarks until it is written anew, and a way back is told", async () => {
  const { node, edges, toDo, problems } = await converted(example("support"));
  expect(node("On form submission").data).toMatchObject({
    kind: "params",
    parameters: [
      { name: "Your_e_mail", label: "Your e-mail", type: "text", required: true },
      { name: "Kind", type: "select", options: ["Bill", "Fault"] },
      { name: "How_many", type: "number" },
    ],
  });
  const cases = node("By kind").data.cases as { id: string; label: string; condition: string }[];
  expect(cases).toMatchObject([
    { id: "1", label: "Bill", condition: 'str(json.loads(trigger_output)["Kind"]) == "Bill".lower()'.replace(".lower()", "") },
    { id: "2", label: "Fault" },
  ]);
  expect(cases[1]?.condition).toMatch(/^# n8n: =\{\{ \$json\.Kind\.split/);
  expect(await conditionFault(cases[1]?.condition ?? "", "project", signal)).toEqual(expect.any(String));
  expect(edges).toEqual([
    "On form submission > By kind",
    "By kind case:1 > Count",
    "By kind case:2 > Old code",
    "By kind default > Say no",
    "Count > Merge",
    "Old code > Merge",
    "Merge > Ten minutes",
    "Ten minutes done > Answer it",
    "Answer it > Try again",
  ]);
  expect(node("Count").data.code).toContain("# for (const item of $input.all()) {");
  expect(node("Ten minutes").data).toMatchObject({ mode: "for", seconds: 600 });
  expect(node("Answer it").data).toMatchObject({ workflow_id: "", params: { mail: "{{trigger.Your_e_mail}}" } });
  expect(toDo("Answer it")).toEqual([expect.stringContaining("“Answers”")]);
  expect(toDo("Try again")).toEqual([expect.stringContaining("led back to “Ten minutes”")]);
  expect(node("Say no")).toMatchObject({ type: "terminateNode", data: { status: "failed", message: "Nobody for {{trigger.Kind}}" } });
  expect(problems).toEqual([
    "Count: Write the code. Its last line says what comes out.",
    "Old code: Write the code. Its last line says what comes out.",
    "Answer it: Choose a workflow.",
  ]);
  const { code, inputs } = node("Merge").data as { code: string; inputs: { name: string; value: string }[] };
  expect(inputs.map(({ value }) => value)).toEqual(["{{Count.output}}", "{{Old code.output}}"]);
  expect(await codeFault(code, ["input_1", "input_2"], "project", signal)).toBeUndefined();
  const merged = await runCode({ code, inputs: { input_1: '{"a":1}', input_2: '{"b":2}' }, timeout: 5 }, signal, "project");
  expect(merged).toMatchObject({ output: '{"a":1,"b":2}' });
});

test("a file without a trigger gets one, before what nothing leads to", async () => {
  const set = (name: string) => ({ name, type: "n8n-nodes-base.set", typeVersion: 3.4, position: [0, 0], parameters: {} });
  const { edges, node } = await converted({
    nodes: [set("A"), set("B")],
    connections: { A: { main: [[{ node: "B", type: "main", index: 0 }]] } },
  });
  expect(edges).toEqual(["Start > A", "A > B"]);
  expect(node("Start").data.kind).toBe("manual");
});

test("what is to be found in a text is the form of an agent's answer, and a workflow that runs itself is told", async () => {
  const langchain = (name: string, type: string, parameters: object) => ({
    ...node(name, "", parameters),
    type: `@n8n/n8n-nodes-langchain.${type}`,
  });
  const attributes = [
    { name: "city", description: "Where", required: true },
    { name: "guests", type: "number" },
  ];
  const {
    file,
    node: find,
    toDo,
  } = await converted({
    nodes: [
      node("Start", "manualTrigger"),
      langchain("Find", "informationExtractor", { text: "={{ $json.mail }}", attributes: { attributes } }),
      node("Keep", "executionData"),
      node("Pause", "wait", { amount: 0, unit: "seconds" }),
      node("Again", "executeWorkflow", {
        workflowId: "={{ $workflow.id }}",
        workflowInputs: { value: { city: "={{ $json.output.city }}" } },
      }),
      langchain("Store", "vectorStoreQdrant", {}),
    ],
    connections: chain("Start", "Find", "Keep", "Pause", "Again", "Store"),
  });
  expect(file.requires.agents).toMatchObject([
    {
      output_schema: {
        type: "object",
        properties: { city: { type: "string", description: "Where" }, guests: { type: "number" } },
        required: ["city"],
      },
    },
  ]);
  expect(find("Find").data).toMatchObject({ agent_id: "agent-1", input: "{{trigger.output.mail}}" });
  expect(find("Pause").data.seconds).toBe(1);
  expect(find("Again").data.params).toEqual({ city: "{{Find.output.city}}" });
  expect(toDo("Again")).toEqual([expect.stringContaining("None may run itself here")]);
  expect(toDo("Store")).toEqual([expect.stringContaining("Knowledge")]);
  expect(toDo("Pause")).toEqual([]);
});

test("imports or refuses a malformed file without failing", async () => {
  let deep: unknown = "x";
  for (let level = 0; level < 5000; level++) deep = [deep];
  const names = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}');
  const odd = [
    node("__proto__", "set", names),
    node("constructor", "httpRequest", { url: { toString: 1, valueOf: 1 }, method: ["x"], options: deep, authentication: deep }),
    node("toString", "constructor", names, { type: "__proto__" }),
    node("trigger", "code", { jsCode: "x".repeat(300_000) }),
    node("{{trigger.output}}", "if", { conditions: { string: deep, conditions: "no" } }),
    node("switch", "switch", { rules: { values: Array.from({ length: 500 }, () => ({ outputKey: "default" })) } }),
    node("wait", "wait", { amount: { toString: null }, unit: "__proto__" }),
    node("form", "formTrigger", { formFields: { values: Array.from({ length: 900 }, () => ({ fieldLabel: "__proto__" })) } }),
    node("cron", "cron", { triggerTimes: { item: [{ mode: "custom", cronExpression: `${"9".repeat(5000)} * * * *` }] } }),
    node(
      "agent",
      "x",
      { text: `=${"{{".repeat(50_000)}`, options: { systemMessage: deep } },
      { type: "@n8n/n8n-nodes-langchain.agent", position: ["a", 1e300] },
    ),
    node("loop", "splitInBatches"),
    node("note", "stickyNote", { content: deep, width: -1e9, height: "x" }),
    "no node",
    { type: 5 },
  ];
  const connections = {
    ...chain("form", "{{trigger.output}}", "switch", "loop", "constructor", "loop"),
    constructor: { main: [[{ node: "constructor" }, { node: "form" }, { node: "nobody" }, null], deep], __proto__: deep },
    __proto__: { main: "x" },
  };
  const { file, report, node: find } = await converted({ nodes: odd, connections, settings: deep });
  expect(report?.nodes).toHaveLength(12);
  expect(file.nodes.every(({ id }) => /^n\d+$/.test(id))).toBe(true);
  expect(find("switch").data.cases).toHaveLength(20);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  const many = { nodes: Array.from({ length: 1001 }, (_, index) => node(`n${index}`, "set")), connections: {} };
  await expect(readImport(many)).rejects.toThrow(/1001 nodes/);
  await expect(readImport({ nodes: [], connections: {} })).rejects.toThrow(/workflow of n8n/);
  const full = {
    nodes: [node("n", "httpRequest", { url: `=${"{{(}}".repeat(70_000)}`, body: `=${"{{(}}".repeat(70_000)}` })],
    connections: {},
  };
  await expect(readImport(full)).rejects.toThrow(/140000 expressions/);
});

test("what is too large to be set out anew keeps the places that it had", async () => {
  const names = Array.from({ length: 400 }, (_, index) => `n${index}`);
  const to = (index: number) => names.slice(index + 1, index + 4).map((name) => ({ node: name, type: "main", index: 0 }));
  for (const type of ["if", "nothing known"]) {
    const nodes = names.map((name, index) => node(name, type, {}, { position: [index, index] }));
    const { file } = await converted({ nodes, connections: Object.fromEntries(names.map((name, index) => [name, { main: [to(index)] }])) });
    expect(file.nodes.find(({ data }) => data.label === "n20")?.position).toEqual({ x: 30, y: 25 });
  }
});

test("expressions that go round and round, or through everything, end", async () => {
  const size = 300;
  const names = Array.from({ length: size }, (_, index) => `s${index}`);
  const keeps = { values: { string: [{ name: "own", value: `=${"{{$json.far}}".repeat(300)}` }] } };
  const nodes = [node("Start", "manualTrigger"), ...names.map((name) => node(name, "set", keeps))];
  const { file } = await converted({
    nodes,
    connections: { ...chain("Start", ...names), [`s${size - 1}`]: { main: [[{ node: "s0", type: "main", index: 0 }]] } },
  });
  expect(file.nodes).toHaveLength(size + 1);
});

/** A file of a trigger and one node behind it. */
const twoNodes = (trigger: object, second: object) => ({ nodes: [trigger, second], connections: chain("Start", "Next") });

test.each([
  [{ field: "weeks", weeksInterval: 2 }, "every 2 weeks"],
  [{ field: "days", daysInterval: 3 }, "every 3 days"],
  [{ field: "months", monthsInterval: 5 }, "every 5 months"],
  [{ field: "hours", hoursInterval: 5 }, "every 5 hours"],
  [{ field: "minutes", minutesInterval: 7 }, "every 7 minutes"],
])("a schedule that cron cannot say is left to a person: %j", async (rule, words) => {
  const start = node("Start", "scheduleTrigger", { rule: { interval: [rule] } });

  const { toDo } = await converted(twoNodes(start, node("Next", "noOp")));

  expect(toDo("Start")).toEqual(
    expect.arrayContaining([expect.stringContaining(`n8n ran it ${words}, which a cron expression cannot say`)]),
  );
});

test.each([
  { field: "weeks", weeksInterval: 1 },
  { field: "days" },
  { field: "months", monthsInterval: 6 },
  { field: "hours", hoursInterval: 6 },
  { field: "minutes", minutesInterval: 15 },
])("a schedule that cron says exactly leaves nothing to do: %j", async (rule) => {
  const start = node("Start", "scheduleTrigger", { rule: { interval: [rule] } });

  const { toDo } = await converted(twoNodes(start, node("Next", "noOp")));

  expect(toDo("Start").filter((message) => message.includes("cron"))).toEqual([]);
});

test.each([
  ["exists", '{"a":""}', true],
  ["exists", '{"a":null}', false],
  ["exists", "{}", false],
  ["notExists", '{"a":""}', false],
  ["notExists", "{}", true],
])("a field %s in %s: %s", async (operation, item, result) => {
  const test = { leftValue: "={{ $json.a }}", operator: { type: "string", operation, singleValue: true } };
  const branch = node("Next", "if", { conditions: { combinator: "and", conditions: [test] } }, { typeVersion: 2 });

  const { node: made } = await converted(twoNodes(node("Start", "manualTrigger"), branch));

  const condition = String(made("Next").data.condition);
  const variables = { output: item, trigger_output: item, node_outputs: {} };
  expect(await evaluateCondition(condition, variables, () => signal, "project")).toBe(result);
});

test("connections by ids of nodes lead to the nodes", async () => {
  const nodes = [node("Start", "manualTrigger", {}, { id: "a1" }), node("Next", "set", {}, { id: "b2" })];

  const { edges } = await converted({ nodes, connections: { a1: { main: [[{ node: "b2", type: "main", index: 0 }]] } } });

  expect(edges).toEqual(["Start > Next"]);
});

test("connections of unknown nodes are one thing to do", async () => {
  const connections = { ...chain("Start", "Gone"), ...chain("Gone", "Next") };

  const { toDo } = await converted({ nodes: [node("Start", "manualTrigger"), node("Next", "set")], connections });

  expect(toDo("Start")).toEqual(["2 connections of the file name nodes that are not in it. Connect the nodes anew."]);
});

test("a Merge that appends says what comes out", async () => {
  const nodes = [node("Start", "manualTrigger"), node("A", "set"), node("B", "set"), node("Merge", "merge", { mode: "append" })];
  const connections = {
    Start: { main: [[{ node: "A" }, { node: "B" }]] },
    A: { main: [[{ node: "Merge", index: 0 }]] },
    B: { main: [[{ node: "Merge", index: 1 }]] },
  };

  const { toDo } = await converted({ nodes, connections });

  expect(toDo("Merge")).toEqual([expect.stringContaining("a list with one value for each input")]);
});

/** A list that is split, gone through, and read in the loop. */
const splitLoop = (batch: object) => ({
  nodes: [
    node("Start", "webhook", { httpMethod: "POST" }),
    node("Split", "splitOut", { fieldToSplitOut: "body.symbol" }),
    node("Loop", "splitInBatches", batch, { typeVersion: 3 }),
    node("X", "set", { assignments: { assignments: [{ name: "a", value: "={{ $json.symbol }}", type: "string" }] } }, { typeVersion: 3 }),
    node(
      "Y",
      "set",
      { assignments: { assignments: [{ name: "b", value: "={{ $('Split').item.json.symbol }}", type: "string" }] } },
      { typeVersion: 3 },
    ),
  ],
  connections: {
    ...chain("Start", "Split", "Loop"),
    Loop: { main: [[], [{ node: "X", index: 0 }]] },
    ...chain("X", "Y", "Loop"),
  },
});

test("a list that is split for a loop is one loop", async () => {
  const { node: made, edges, file, problems } = await converted(splitLoop({}));

  expect(edges).toEqual(["Start > Loop", "Loop body > X", "X > Y"]);
  expect(file.nodes.filter(({ type }) => type === "loopNode").map(({ data }) => data.items_expression)).toEqual([
    "{{trigger.output.symbol}}",
  ]);
  expect(made("X").data.fields).toMatchObject([{ value: "{{Loop.current_item}}" }]);
  expect(made("Y").data.fields).toMatchObject([{ value: "{{Loop.current_item}}" }]);
  expect(problems).toEqual([]);
});

test("a loop that takes several items keeps the slices", async () => {
  const { node: made, edges, toDo } = await converted(splitLoop({ batchSize: 2 }));

  expect(edges).toEqual(["Start > Split", "Split > Loop", "Loop body > X", "X > Y"]);
  expect(made("Loop").data.items_expression).toBe("{{Split.output}}");
  expect(toDo("Loop")).toEqual(["n8n took 2 items at a time. Here the item of the loop is a list of as many."]);
  const { code, inputs } = made("Split").data as { code: string; inputs: { name: string; value: string }[] };
  expect(inputs).toEqual([{ name: "text", value: "{{trigger.output.symbol}}" }]);
  expect(await runCode({ code, inputs: { text: "[1,2,3]" }, timeout: 5 }, signal, "project")).toMatchObject({ output: "[[1,2],[3]]" });
});

test.each([
  ["githubTrigger", "github"],
  ["gitlabTrigger", "gitlab"],
  ["linearTrigger", "linear"],
  ["shopifyTrigger", "shopify"],
  ["slackTrigger", "slack"],
  ["stripeTrigger", "stripe"],
  ["trelloTrigger", "trello"],
])("%s becomes a webhook of that sender", async (type, auth) => {
  const { node: of } = await converted({ name: "Hooked", nodes: [node("Start", type)], connections: {} });

  expect(of("Start").data).toMatchObject({ kind: "webhook", auth });
});

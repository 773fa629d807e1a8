import { expect, test } from "vitest";
import { expressionOptions, insertExpression, unfinishedExpression } from "#components/workflow-editor/fields/expression-options.ts";
import { type LastRun, readableAt } from "#components/workflow-editor/fields/last-values.ts";
import { pythonOptions } from "#components/workflow-editor/fields/python-field.tsx";
import type { Graph } from "#server/workflow/schema.ts";

const graph: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "params", parameters: [{ name: "topic" }] } },
    { id: "a", type: "agentNode", position: { x: 1, y: 0 }, data: { label: "Research", agent_id: "7" } },
    { id: "b", type: "agentNode", position: { x: 2, y: 0 }, data: { label: "Write" } },
    { id: "o", type: "outputNode", position: { x: 3, y: 0 }, data: { label: "Output" } },
    { id: "x", type: "agentNode", position: { x: 3, y: 0 }, data: { label: "Elsewhere" } },
  ],
  edges: [
    { id: "1", source: "t", target: "a" },
    { id: "2", source: "a", target: "b" },
    { id: "3", source: "b", target: "o" },
    { id: "4", source: "t", target: "x" },
  ],
};
const scope = { agentName: (id: string) => (id === "7" ? "Scout" : undefined) };
const optionsAt = (of: Graph, id: string) => expressionOptions(readableAt(of, id, scope), null);

test("everything upstream can be read, the nearest first; nothing beside or behind", () => {
  const names = optionsAt(graph, "o").map((option) => option.expression);
  expect(names).toEqual(["Write.output", "Research.output", "trigger.topic", "trigger.output", "Scout.output", "execution.id"]);
  expect(optionsAt(graph, "a").map((option) => option.expression)).not.toContain("Write.output");
});

test("the project's credentials come last, everywhere", () => {
  const options = expressionOptions(readableAt(graph, "a", { ...scope, credentialNames: ["GITHUB_TOKEN", "SMTP"] }), null);
  expect(options.slice(-3).map(({ expression }) => expression)).toEqual(["execution.id", "credentials.GITHUB_TOKEN", "credentials.SMTP"]);
});

test("two braces or a slash at the beginning of a word open the list", () => {
  expect(unfinishedExpression("Ask {{Res", 9)).toEqual({ start: 4, query: "Res" });
  expect(unfinishedExpression("Ask /", 5)).toEqual({ start: 4, query: "" });
  expect(unfinishedExpression("/wr", 3)).toEqual({ start: 0, query: "wr" });
  expect(unfinishedExpression("https://", 8)).toBeNull();
  expect(unfinishedExpression("{{a.output}} then", 17)).toBeNull();
});

test("the beginning is replaced, and closing braces are not doubled", () => {
  expect(insertExpression("Ask {{Res}} now", 4, 9, "Research.output")).toEqual({ text: "Ask {{Research.output}} now", caret: 23 });
  expect(insertExpression("Ask /re now", 4, 7, "trigger.output").text).toBe("Ask {{trigger.output}} now");
});

const at = { x: 0, y: 0 };
const looped: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: at, data: { label: "Start", kind: "http" } },
    { id: "h", type: "humanLoopNode", position: at, data: { label: "Review" } },
    { id: "l", type: "loopNode", position: at, data: { label: "Each", items_expression: "{{trigger.output}}" } },
    { id: "a", type: "agentNode", position: at, data: { label: "Write", agent_id: "7", input: "" } },
    { id: "b", type: "outputNode", position: at, data: { label: "Draft", value: "" } },
    { id: "d", type: "outputNode", position: at, data: { label: "All", value: "" } },
  ],
  edges: [
    { id: "1", source: "t", target: "h" },
    { id: "2", source: "h", target: "l", sourceHandle: "approved" },
    { id: "3", source: "l", target: "a", sourceHandle: "body" },
    { id: "4", source: "a", target: "b" },
    { id: "5", source: "l", target: "d", sourceHandle: "done" },
  ],
};
const namesAt = (id: string) => optionsAt(looped, id).map((option) => option.expression);

test("inside of a loop there is the item, not yet the loop's output; parts of a review and of a request can be read", () => {
  expect(namesAt("b")).toEqual([
    "Write.output",
    "Each.current_item",
    "Each.index",
    "Review.output",
    "Review.decision",
    "Review.comment",
    "trigger.raw",
    "trigger.output",
    "trigger.output.body",
    "trigger.output.method",
    "trigger.output.headers",
    "trigger.output.query",
    "Scout.output",
    "execution.id",
  ]);
});

test("behind a loop there is its output, and nothing of its items", () => {
  const names = namesAt("d");
  expect(names).toContain("Each.output");
  expect(names.filter((name) => /current_item|index|Write|Scout/.test(name))).toEqual([]);
});

test("a condition is offered its variables and the nodes by their labels, with the name of an agent as a second one", () => {
  expect(pythonOptions(readableAt(looped, "b", scope), null).map((option) => option.code)).toEqual([
    "output",
    "trigger_output",
    'node_outputs["Write"]',
    'node_outputs["Review"]',
  ]);
  expect(pythonOptions(readableAt(looped, "b", scope), null).map((option) => option.kind ?? null)).toEqual([
    null,
    null,
    "also Scout",
    null,
  ]);
  expect(pythonOptions(readableAt(graph, "a", scope), null).map((option) => option.code)).toEqual([
    "output",
    "trigger_output",
    "node_outputs",
  ]);
});

const call: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: at, data: { label: "Start", kind: "manual" } },
    { id: "h", type: "httpNode", position: at, data: { label: "Ask", url: "https://example.com" } },
    { id: "w", type: "waitNode", position: at, data: { label: "Hold", mode: "callback" } },
    { id: "p", type: "waitNode", position: at, data: { label: "Pause", mode: "for" } },
    { id: "s", type: "setNode", position: at, data: { label: "Tell" } },
    { id: "o", type: "outputNode", position: at, data: { label: "Output" } },
  ],
  edges: [
    { id: "1", source: "t", target: "h" },
    { id: "2", source: "h", target: "w" },
    { id: "3", source: "h", target: "p" },
    { id: "4", source: "h", target: "s" },
    { id: "5", source: "p", target: "o", sourceHandle: "done" },
  ],
};

test("of an HTTP node its status and headers are offered, with the last answer's and what its body holds", () => {
  const names = (options: readonly { expression: string }[]) => options.map(({ expression }) => expression);
  expect(names(optionsAt(call, "s"))).toEqual(expect.arrayContaining(["Ask.output", "Ask.status", "Ask.headers"]));
  const run: LastRun = {
    ...{ executionId: "e", input: "", params: {} },
    snapshot: { nodes: { h: { status: "complete", output: '{"id": 7}' } } } as unknown as LastRun["snapshot"],
    details: { h: { status: 201, headers: { "content-type": "application/json" } } },
  };
  const options = expressionOptions(readableAt(call, "s", scope), run);
  const found = (expression: string) => options.find((option) => option.expression === expression)?.lastValue;
  expect(["Ask.output.id", "Ask.status", "Ask.headers.content-type"].map(found)).toEqual(["7", "201", "application/json"]);
});

test("the address of a callback is offered beside its wait, and of no other wait", () => {
  const names = (id: string) => optionsAt(call, id).map(({ expression }) => expression);
  expect(names("s")).toContain("Hold.resume_url");
  expect(names("s")).not.toContain("Hold.output");
  expect(names("o").filter((name) => name.startsWith("Pause"))).toEqual(["Pause.output"]);
  expect(names("h")).not.toContain("Hold.resume_url");
});

import { expect, test } from "vitest";
import { findFaults, withNamedHandles } from "#server/workflow/graph.ts";
import { findProblems } from "#server/workflow/problems.ts";
import { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const graph = (nodes: object[], edges: string[]) =>
  Graph.parse({
    nodes: [node("t", "triggerNode"), ...nodes],
    edges: edges.map((text) => {
      const [from = "", target = ""] = text.split(">");
      const [source = "", sourceHandle] = from.split(".");
      return { id: text, source, target, ...(sourceHandle && { sourceHandle }) };
    }),
  });
const problems = (...made: Parameters<typeof graph>) =>
  findProblems(graph(...made), { agentName: () => undefined }).map(({ node_id, field, message }) => `${node_id} ${field}: ${message}`);

test("a wait says which time is missing or none, and its bounds are refused at save", () => {
  const until = (text: string) => problems([node("w", "waitNode", { mode: "until", until: text })], ["t>w"]);
  expect(until("")).toEqual(["w until: Say until when, for example 2026-12-24T18:00:00Z."]);
  expect(until("tomorrow")).toEqual(['w until: "tomorrow" is no time. Write one such as 2026-12-24T18:00:00Z.']);
  for (const fine of ["2026-12-24", "2026-12-24T18:00:00+01:00", "1798133400", "1798133400000", "{{trigger.output}}"])
    expect(until(fine), fine).toEqual([]);
  for (const wrong of ["2026-13-01", "-5", "9999999999999999"]) expect(until(wrong), wrong).toHaveLength(1);
  const faults = (data: object) => findFaults(graph([node("w", "waitNode", data)], ["t>w"])).map(({ field }) => field);
  expect(faults({ mode: "for", seconds: 0.5 })).toEqual(["data.seconds"]);
  expect(faults({ mode: "for", seconds: 31_536_001 })).toEqual(["data.seconds"]);
  expect(faults({ mode: "callback", timeout_hours: 0 })).toEqual(["data.timeout_hours"]);
  expect(faults({ mode: "never" })).toEqual(["data.mode"]);
});

test("only a wait for a call can time out", () => {
  const faults = (mode: string) =>
    findFaults(graph([node("w", "waitNode", { mode }), node("o", "outputNode")], ["t>w", "w.timed_out>o"])).length;
  expect([faults("for"), faults("callback")]).toEqual([1, 0]);
});

test("the address of a callback can be read where its wait has begun", () => {
  const wait = node("w", "waitNode", { mode: "callback" });
  const reader = (id: string, text = "{{w.resume_url}}") => node(id, "outputNode", { value: text });
  const beside = (id: string, edges: string[], text?: string) =>
    problems([node("a", "outputNode"), wait, reader(id, text)], ["t>a", "a>w", ...edges]);
  expect(beside("r", ["a>r"])).toEqual([]);
  expect(beside("r", ["w.done>r"])).toEqual([]);
  expect(beside("r", ["t>r"])).toEqual([expect.stringContaining("does not come before this node")]);
  expect(beside("r", ["a>r"], "{{w.output}}")).toEqual([expect.stringContaining("does not come before this node")]);
  const before = problems([reader("r"), wait], ["t>r", "r>w"]);
  expect(before).toEqual([expect.stringContaining("does not come before this node")]);
});

test("only a wait for a call has an address to read", () => {
  const reader = node("r", "outputNode", { value: "{{w.resume_url}}" });
  const after = (mode: string) => problems([node("w", "waitNode", { mode }), reader], ["t>w", "w.done>r"]);
  expect(after("callback")).toEqual([]);
  expect(after("for")).toEqual([expect.stringContaining('"w" has no "resume_url". There is: output.')]);
});

test("a connection from a wait that names no way out means done, and is named so", () => {
  const whole = graph([node("w", "waitNode", { mode: "callback" }), node("o", "outputNode")], ["t>w", "w>o"]);
  expect(findFaults(whole)).toEqual([]);
  expect(withNamedHandles(whole).edges.map(({ sourceHandle }) => sourceHandle)).toEqual([undefined, "done"]);
  const branch = graph([node("b", "branchNode", { condition: "True" }), node("o", "outputNode")], ["t>b", "b>o"]);
  expect(findFaults(branch)).toHaveLength(1);
});

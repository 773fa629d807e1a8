import { expect, test } from "vitest";
import { applyEvent, cardStatus, type NodeSnapshot, snapshotOf, usageOf } from "#components/runs/store/run-snapshot.ts";
import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import { idleResult } from "#server/runs/schema.ts";
import { anExecution, eventFields, nodeComplete } from "#server/testing/an-execution.ts";

const graphNode = (id: string, type: string) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id } });
const looped = {
  nodes: [
    graphNode("t", "triggerNode"),
    graphNode("each", "loopNode"),
    graphNode("a", "agentNode"),
    graphNode("in", "loopNode"),
    graphNode("b", "outputNode"),
  ],
  edges: [
    { id: "1", source: "t", target: "each" },
    { id: "2", source: "each", sourceHandle: "body", target: "a" },
    { id: "3", source: "a", target: "in" },
    { id: "4", source: "in", sourceHandle: "body", target: "b" },
  ],
};
const loopResults = { t: idleResult, each: idleResult, a: idleResult, in: idleResult, b: idleResult };

test("what lies in a loop that was left out is left out with it", () => {
  const left = { ...loopResults, each: { ...idleResult, status: "skipped" as const, reused: true } };
  const snapshot = snapshotOf(anExecution("running", left), 0, { graph: looped });
  for (const id of ["a", "in", "b"]) {
    expect(cardStatus(snapshot, id)).toBe("skipped");
    expect(snapshot.nodes[id]).toMatchObject({ reused: true });
  }
});

test("what lies in a loop that the run goes past is not queued, and may run for another item", () => {
  let snapshot = snapshotOf(anExecution("running", loopResults), 0, { graph: looped });
  expect(cardStatus(snapshot, "b")).toBe("queued");
  snapshot = applyEvent(snapshot, 1, { type: "node_skipped", ...eventFields, node_id: "in", iteration: "0" });
  expect([cardStatus(snapshot, "b"), cardStatus(snapshot, "a")]).toEqual(["skipped", "queued"]);
  expect(snapshot.nodes.b).toMatchObject({ reused: false });
  snapshot = applyEvent(snapshot, 2, {
    type: "node_start",
    ...eventFields,
    node_id: "b",
    node_type: "outputNode",
    attempt: 1,
    iteration: "1.0",
  });
  expect(cardStatus(snapshot, "b")).toBe("running");
});

test("of a node inside a loop all items count, those told before and those that follow in any order", () => {
  const item = (iteration: string): ExecutionEvent => ({ ...nodeComplete("a", "x"), iteration }) as ExecutionEvent;
  const known = { ...idleResult, status: "complete" as const, iteration: "1", duration_ms: 5, input_tokens: 3, output_tokens: 2 };
  const item_sums = { a: { count: 2, duration_ms: 10, input_tokens: 6, output_tokens: 4 } };
  let snapshot = snapshotOf(anExecution("running", { ...loopResults, a: known }), 4, { graph: looped, item_sums });
  const used = () => snapshot.nodes.a && usageOf(snapshot.nodes.a);
  expect(used()).toEqual({ count: 2, duration_ms: 10, tokens: 10 });
  snapshot = applyEvent(snapshot, 4, item("1"));
  snapshot = applyEvent(snapshot, 5, item("3"));
  snapshot = applyEvent(snapshot, 6, item("2"));
  expect(used()).toEqual({ count: 4, duration_ms: 20, tokens: 20 });
  snapshot = applyEvent(snapshot, 7, {
    type: "node_failed",
    ...eventFields,
    node_id: "a",
    iteration: "4",
    error: "broken",
    duration_ms: 7,
  });
  expect(used()).toEqual({ count: 5, duration_ms: 27, tokens: 20 });
  snapshot = applyEvent(snapshot, 8, {
    type: "node_start",
    ...eventFields,
    node_id: "a",
    node_type: "agentNode",
    attempt: 1,
    iteration: "5",
  });
  expect(used()).toEqual({ count: 5, duration_ms: null, tokens: 20 });
});

test("a node outside loops shows its own tokens and time", () => {
  const snapshot = applyEvent(snapshotOf(anExecution("running", loopResults), 0, { graph: looped }), 1, nodeComplete("a", "x"));
  expect(snapshot.nodes.a && usageOf(snapshot.nodes.a)).toEqual({ count: 0, duration_ms: 5, tokens: 5 });
});

test("a node is shown at the last item that came to it, whatever way later ones went; the API's answer says the same", () => {
  const at = { ...eventFields, node_id: "a", iteration: "1" };
  const skip = (iteration: string): ExecutionEvent => ({ type: "node_skipped", ...eventFields, node_id: "a", iteration });
  const live = [
    skip("0"),
    { type: "node_start", ...at, node_type: "agentNode", attempt: 1 } as ExecutionEvent,
    { ...nodeComplete("a", "one"), iteration: "1" } as ExecutionEvent,
    skip("2"),
    skip("10"),
  ].reduce((snapshot, event, index) => applyEvent(snapshot, index + 1, event), snapshotOf(anExecution("running", loopResults), 0));
  expect(live.nodes.a).toMatchObject({ status: "complete", iteration: "1", output: "one", items: { count: 1 } });
  expect(usageOf(live.nodes.a as NodeSnapshot).count).toBe(1);

  const sums = { count: 1, duration_ms: 5, input_tokens: 3, output_tokens: 2 };
  const last = { iteration: "1", status: "complete" as const, attempt: 1, started_at: "2026-11-21T08:00:00.000Z", duration_ms: 5 };
  const results = { ...loopResults, a: { ...idleResult, status: "skipped" as const, iteration: "10" } };
  const told = snapshotOf(anExecution("completed", results), 5, { graph: looped, item_sums: { a: { ...sums, last } } });
  expect(told.nodes.a).toMatchObject({ status: "complete", iteration: "1", isPast: true, duration_ms: 5 });
  expect(told.order).toEqual(["a"]);
  // One that no item came to was skipped.
  expect(snapshotOf(anExecution("completed", results), 5, { graph: looped }).nodes.a).toMatchObject({ status: "skipped", iteration: "10" });
});

import { expect, test } from "vitest";
import { applyEvent, cardStatus, type RunSnapshot, snapshotOf, totalUsage } from "#components/runs/store/run-snapshot.ts";
import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import { type Execution, idleResult } from "#server/runs/schema.ts";
import { anExecution, eventFields, nodeComplete } from "#server/testing/an-execution.ts";

const time = "2026-11-21T08:00:00.000Z";
const execution = (
  status: Execution["status"],
  node_results: Execution["node_results"] = { t: idleResult, a: idleResult, o: idleResult },
) => anExecution(status, node_results);
const start = (node_id: string, attempt = 1): ExecutionEvent => ({
  type: "node_start",
  ...eventFields,
  node_id,
  node_type: "agentNode",
  attempt,
});
const delta = (node_id: string, content: string): ExecutionEvent => ({ type: "node_delta", ...eventFields, node_id, content });

const run: ExecutionEvent[] = [
  start("t"),
  nodeComplete("t", "hi"),
  start("a"),
  delta("a", "Hel"),
  delta("a", "lo"),
  nodeComplete("a", "Hello"),
  { type: "node_skipped", ...eventFields, node_id: "o" },
  { type: "execution_complete", ...eventFields, status: "completed", duration_ms: 20, output: "Hello" },
];
const play = (snapshot: RunSnapshot, events: readonly ExecutionEvent[], from = 1) =>
  events.reduce((current, event, index) => applyEvent(current, from + index, event), snapshot);
const empty = () => snapshotOf(execution("pending"), 0);

test("events move nodes from queued to their end", () => {
  const under = play(empty(), run.slice(0, 5));
  expect(under.status).toBe("running");
  expect(["t", "a", "o"].map((id) => cardStatus(under, id))).toEqual(["complete", "running", "queued"]);
  expect(under.nodes.a?.arriving).toBe("Hello");
  const over = play(empty(), run);
  expect(over).toMatchObject({ status: "completed", output: "Hello", order: ["t", "a"], last_event_id: 8 });
  expect(over.nodes.a).toMatchObject({ status: "complete", output: "Hello", arriving: "" });
  expect(cardStatus(over, "o")).toBe("skipped");
  expect(totalUsage(over)).toMatchObject({ input: 6, output: 4 });
});

test("events told again change nothing", () => {
  const half = play(empty(), run.slice(0, 5));
  expect(play(half, run.slice(0, 5))).toBe(half);
  expect(play(play(half, run), run)).toEqual(play(empty(), run));
});

test("a reload in the middle shows the same snapshot: the API's answer, then the pieces of running nodes from their first", () => {
  const live = play(empty(), run.slice(0, 5));
  const done = {
    ...idleResult,
    status: "complete" as const,
    output: "hi",
    duration_ms: 5,
    started_at: time,
    input_tokens: 3,
    output_tokens: 2,
    attempt: 1,
  };
  const view = execution("running", { t: done, a: { ...idleResult, status: "running", started_at: time, attempt: 1 }, o: idleResult });
  const reloaded = play(snapshotOf(view, 3), run.slice(3, 5), 4);
  expect(reloaded).toEqual(live);
  expect(play(reloaded, run.slice(5), 6)).toEqual(play(live, run.slice(5), 6));
});

test("an answer that is newer than the events after it is not turned back", () => {
  const done = { ...idleResult, status: "complete" as const, output: "Hello", started_at: time, attempt: 1 };
  const snapshot = snapshotOf(execution("running", { t: done, a: done, o: idleResult }), 2);
  const replayed = play(snapshot, run.slice(2, 5), 3);
  expect(replayed.nodes.a).toMatchObject({ status: "complete", output: "Hello", arriving: "" });
});

test("a new attempt starts afresh", () => {
  const snapshot = play(empty(), [start("a"), delta("a", "half an ans"), start("a", 2), delta("a", "The answer")]);
  expect(snapshot.nodes.a).toMatchObject({ status: "running", attempt: 2, arriving: "The answer" });
});

test("a failure keeps the reason, and at the end what was under way is stopped, what was never reached skipped", () => {
  const snapshot = play(empty(), [
    start("t"),
    start("a"),
    { type: "node_failed", ...eventFields, node_id: "t", error: "401 wrong key", duration_ms: 3 },
    { type: "execution_failed", ...eventFields, status: "failed", error: "Start: 401 wrong key", duration_ms: 9 },
  ]);
  expect(snapshot).toMatchObject({ status: "failed", error: "Start: 401 wrong key", duration_ms: 9 });
  expect(snapshot.nodes.t).toMatchObject({ status: "failed", error: "401 wrong key" });
  expect(["a", "o"].map((id) => cardStatus(snapshot, id))).toEqual(["stopped", "skipped"]);
  // The API's answer, which comes a moment later, says the same.
  const told = { ...idleResult, status: "skipped" as const };
  const results = { a: { ...told, started_at: time, stopped: true as const }, o: told };
  const later = snapshotOf(execution("failed", results), 5);
  expect(["a", "o"].map((id) => cardStatus(later, id))).toEqual(["stopped", "skipped"]);
});

test("a node that is skipped when it had begun is stopped", () => {
  const snapshot = play(empty(), [start("a"), { type: "node_skipped", ...eventFields, node_id: "a" }]);
  expect(cardStatus(snapshot, "a")).toBe("stopped");
});

const inLoop = (event: ExecutionEvent, iteration: string): ExecutionEvent => ({ ...event, iteration }) as ExecutionEvent;
const progress = (done: number, failed = 0): ExecutionEvent => ({
  type: "loop_progress",
  ...eventFields,
  node_id: "l",
  total: 12,
  complete: done,
  failed,
});
const paused = (node_id: string, iteration = ""): ExecutionEvent => ({
  type: "execution_paused",
  ...eventFields,
  node_id,
  ...(iteration && { iteration }),
  title: "Good?",
  display_value: "",
});

test("a node inside a loop shows its latest iteration, and the loop how far it is", () => {
  const snapshot = play(empty(), [
    start("l"),
    progress(0),
    inLoop(start("a"), "9"),
    inLoop(start("a"), "10"),
    inLoop(delta("a", "ten"), "10"),
    inLoop(nodeComplete("a", "nine"), "9"),
    inLoop(delta("a", "lost"), "9"),
    progress(10, 1),
  ]);
  expect(snapshot.nodes.a).toMatchObject({ iteration: "10", status: "running", arriving: "ten" });
  expect(snapshot.nodes.l).toMatchObject({ status: "running", iterations: { total: 12, complete: 10, failed: 1 } });
  expect(totalUsage(snapshot)).toMatchObject({ input: 3, output: 2 });
  const later = play(snapshot, [inLoop(nodeComplete("a", "ten"), "10"), inLoop(start("a"), "11")], 20);
  expect(later.nodes.a).toMatchObject({ iteration: "11", status: "running", output: null, attempt: 1 });
  expect(totalUsage(later)).toMatchObject({ input: 6, output: 4 });
});

test("a run is paused while it waits for people only", () => {
  const both = play(empty(), [start("t"), nodeComplete("t", "x"), start("r"), paused("r"), start("a")]);
  expect(both.status).toBe("running");
  expect(cardStatus(both, "r")).toBe("waiting");
  const alone = play(both, [nodeComplete("a", "done")], 10);
  expect(alone.status).toBe("paused");
  const decided = play(alone, [{ type: "execution_resumed", ...eventFields }, nodeComplete("r", "approved")], 11);
  expect(decided).toMatchObject({ status: "running", waiting: {} });
  // Nobody is asked where it waits for a time or a call.
  const called = play(decided, [start("w"), { type: "node_waiting", ...eventFields, node_id: "w", deadline: null }], 13);
  expect(called).toMatchObject({ status: "running", waiting: {}, nodes: { w: { status: "waiting" } } });
  expect(cardStatus(called, "w")).toBe("waiting");
});

test("a review that waits in several iterations waits until the last is decided, over a reload too", () => {
  const two = play(empty(), [
    start("l"),
    progress(0),
    inLoop(start("r"), "0"),
    paused("r", "0"),
    inLoop(start("r"), "1"),
    paused("r", "1"),
  ]);
  expect(two).toMatchObject({ status: "paused", waiting: { r: ["0", "1"] } });
  const one = play(two, [inLoop(nodeComplete("r", "approved"), "1")], 10);
  expect(one).toMatchObject({ status: "paused", waiting: { r: ["0"] } });
  expect(cardStatus(one, "r")).toBe("waiting");
  const record = { node_id: "r", label: "R", choice: null, comment: null, reviewer: null, role: null, via: null };
  const view = execution("paused", { l: { ...idleResult, status: "running" }, r: { ...idleResult, status: "complete", iteration: "1" } });
  view.reviews = [
    { ...record, iteration: "0", status: "waiting", decision: null, decided_at: null, votes: [] },
    { ...record, iteration: "1", status: "approved", decision: "approved", decided_at: time, votes: [] },
  ];
  expect(snapshotOf(view, 9).waiting).toEqual({ r: ["0"] });
});

test("of a large output the beginning is kept with the length of the whole", () => {
  const cut = { ...nodeComplete("a", "the beginning"), truncated: true, output_length: 300_000, output_url: "/api/v1/x" } as ExecutionEvent;
  expect(play(empty(), [start("a"), cut]).nodes.a).toMatchObject({ output: "the beginning", whole_length: 300_000 });
  const result = { ...idleResult, status: "complete" as const, output: "the b", truncated: true, output_length: 400_000, output_url: "/x" };
  expect(snapshotOf(execution("running", { a: result }), 0).nodes.a).toMatchObject({ whole_length: 400_000 });
});

test("the cost of the run is added up as nodes end, and a part that is not known makes it a part", () => {
  const ended = (node_id: string, cost: number | null, iteration?: string): ExecutionEvent => ({
    ...nodeComplete(node_id, "x"),
    cost,
    ...(iteration !== undefined && { iteration }),
  });
  const known = play(empty(), [start("a"), ended("a", 0.1, "0"), ended("a", 0.2, "1"), ended("o", 0.4)]);
  expect(totalUsage(known)).toMatchObject({ cost: 0.7, isPartial: false });
  const dark = play(empty(), [start("a"), ended("a", null)]);
  expect(totalUsage(dark)).toMatchObject({ cost: null, isPartial: true });
  expect(totalUsage(play(dark, [start("o"), ended("o", 0.2)], 3))).toMatchObject({ cost: 0.2, isPartial: true });
  // A later iteration with a price does not make an earlier one known.
  expect(totalUsage(play(empty(), [start("a"), ended("a", null, "0"), ended("a", 0.3, "1")]))).toMatchObject({
    cost: 0.3,
    isPartial: true,
  });
});

test("what the API tells of a run is not counted twice, and what its nodes do not show is kept", () => {
  const done = { ...idleResult, status: "complete" as const, input_tokens: 3, output_tokens: 2, cost: 0.1 };
  const told = {
    ...execution("completed", { a: done, o: { ...done, cost: null } }),
    input_tokens: 9,
    output_tokens: 6,
    cost: 0.5,
    cost_is_partial: true,
  };
  expect(totalUsage(snapshotOf(told, 8))).toEqual({ input: 9, output: 6, cost: 0.5, isPartial: true });
  const loop = { ...execution("completed", { a: done }), cost: 0.1, cost_is_partial: true };
  expect(totalUsage(snapshotOf(loop, 8))).toMatchObject({ cost: 0.1, isPartial: true });
});

test.each(["constructor", "toString", "valueOf"])("a node %s is known only when the run tells of it", (odd) => {
  let snapshot = snapshotOf(execution("running"), 0);
  expect([snapshot.nodes[odd], snapshot.waiting[odd]]).toEqual([undefined, undefined]);
  expect(cardStatus(snapshot, odd)).toBe("queued");
  snapshot = applyEvent(snapshot, 1, start("t"));
  snapshot = applyEvent(snapshot, 2, start(odd));
  expect(cardStatus(snapshot, odd)).toBe("running");
  snapshot = applyEvent(snapshot, 3, nodeComplete(odd, "x"));
  expect(snapshot.nodes[odd]).toMatchObject({ status: "complete", output: "x" });
  expect([snapshot.nodes.valueOf, snapshot.waiting.valueOf].filter((value) => typeof value === "function")).toEqual([]);
});

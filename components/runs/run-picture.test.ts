import { expect, test } from "vitest";
import { applyEvent, cardStatus, pictureOf, type RunPicture, totalTokens } from "#components/runs/run-picture.ts";
import type { Execution, NodeResult } from "#server/schemas/execution.ts";
import type { ExecutionEvent } from "#server/schemas/execution-event.ts";

const time = "2026-11-21T08:00:00.000Z";
const common = { execution_id: "x", timestamp: time };
const idle: NodeResult = {
  status: "idle",
  output: null,
  error: null,
  duration_ms: null,
  started_at: null,
  completed_at: null,
  input_tokens: 0,
  output_tokens: 0,
  attempt: 0,
  reused: false,
};
const execution = (status: Execution["status"], node_results: Execution["node_results"] = { t: idle, a: idle, o: idle }): Execution => ({
  id: "x",
  workflow_id: "w",
  workflow_name: "W",
  version: null,
  status,
  trigger: "manual",
  input: "",
  output: null,
  error: null,
  started_by: null,
  rerun_of: null,
  input_tokens: 0,
  output_tokens: 0,
  created_at: time,
  started_at: null,
  completed_at: null,
  duration_ms: null,
  outputs: [],
  reviews: [],
  node_results,
});
const start = (node_id: string, attempt = 1): ExecutionEvent => ({
  type: "node_start",
  ...common,
  node_id,
  node_type: "agentNode",
  attempt,
});
const delta = (node_id: string, content: string): ExecutionEvent => ({ type: "node_delta", ...common, node_id, content });
const complete = (node_id: string, output: string): ExecutionEvent => ({
  type: "node_complete",
  ...common,
  node_id,
  output,
  duration_ms: 5,
  input_tokens: 3,
  output_tokens: 2,
});

const run: ExecutionEvent[] = [
  start("t"),
  complete("t", "hi"),
  start("a"),
  delta("a", "Hel"),
  delta("a", "lo"),
  complete("a", "Hello"),
  { type: "node_skipped", ...common, node_id: "o" },
  { type: "execution_complete", ...common, status: "completed", duration_ms: 20, output: "Hello" },
];
const play = (picture: RunPicture, events: readonly ExecutionEvent[], from = 1) =>
  events.reduce((current, event, index) => applyEvent(current, from + index, event), picture);
const empty = () => pictureOf(execution("pending"), 0);

test("events move nodes from queued to their end", () => {
  const under = play(empty(), run.slice(0, 5));
  expect(under.status).toBe("running");
  expect(["t", "a", "o"].map((id) => cardStatus(under, id))).toEqual(["complete", "running", "queued"]);
  expect(under.nodes.a?.arriving).toBe("Hello");
  const over = play(empty(), run);
  expect(over).toMatchObject({ status: "completed", output: "Hello", order: ["t", "a"], last_event_id: 8 });
  expect(over.nodes.a).toMatchObject({ status: "complete", output: "Hello", arriving: "" });
  expect(cardStatus(over, "o")).toBe("skipped");
  expect(totalTokens(over)).toEqual({ input: 6, output: 4 });
});

test("events told again change nothing", () => {
  const half = play(empty(), run.slice(0, 5));
  expect(play(half, run.slice(0, 5))).toBe(half);
  expect(play(play(half, run), run)).toEqual(play(empty(), run));
});

test("a reload in the middle shows the same picture: the API's answer, then the pieces of running nodes from their first", () => {
  const live = play(empty(), run.slice(0, 5));
  const done = {
    ...idle,
    status: "complete" as const,
    output: "hi",
    duration_ms: 5,
    started_at: time,
    input_tokens: 3,
    output_tokens: 2,
    attempt: 1,
  };
  const view = execution("running", { t: done, a: { ...idle, status: "running", started_at: time, attempt: 1 }, o: idle });
  const reloaded = play(pictureOf(view, 3), run.slice(3, 5), 4);
  expect(reloaded).toEqual(live);
  expect(play(reloaded, run.slice(5), 6)).toEqual(play(live, run.slice(5), 6));
});

test("an answer that is newer than the events after it is not turned back", () => {
  const done = { ...idle, status: "complete" as const, output: "Hello", started_at: time, attempt: 1 };
  const picture = pictureOf(execution("running", { t: done, a: done, o: idle }), 2);
  const replayed = play(picture, run.slice(2, 5), 3);
  expect(replayed.nodes.a).toMatchObject({ status: "complete", output: "Hello", arriving: "" });
});

test("a new attempt starts afresh", () => {
  const picture = play(empty(), [start("a"), delta("a", "half an ans"), start("a", 2), delta("a", "The answer")]);
  expect(picture.nodes.a).toMatchObject({ status: "running", attempt: 2, arriving: "The answer" });
});

test("a failure keeps the reason, and what was under way is skipped at the end", () => {
  const picture = play(empty(), [
    start("t"),
    start("a"),
    { type: "node_failed", ...common, node_id: "t", error: "401 wrong key", duration_ms: 3 },
    { type: "execution_failed", ...common, status: "failed", error: "Start: 401 wrong key", duration_ms: 9 },
  ]);
  expect(picture).toMatchObject({ status: "failed", error: "Start: 401 wrong key", duration_ms: 9 });
  expect(picture.nodes.t).toMatchObject({ status: "failed", error: "401 wrong key" });
  expect(picture.nodes.a?.status).toBe("skipped");
});

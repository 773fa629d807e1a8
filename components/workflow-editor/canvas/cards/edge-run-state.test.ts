import { expect, test } from "vitest";
import type { NodeSnapshot, RunSnapshot } from "#components/runs/store/run-snapshot.ts";
import { edgeRunState } from "#components/workflow-editor/canvas/cards/flow-edge.tsx";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";

const node = (id: string, type: string) => ({ id, type, position: { x: 0, y: 0 }, data: {} });
const graph = {
  nodes: [node("way", "branchNode"), node("ask", "humanLoopNode"), node("a", "agentNode"), node("join", "outputNode")],
  edges: [],
};
const snapshotWith = (nodes: Record<string, Partial<NodeSnapshot>>, status: ExecutionStatus = "completed") =>
  ({ status, waiting: {}, nodes }) as unknown as RunSnapshot;

test("of a branch only the way that it went by was taken, also where both lead to one node", () => {
  const snapshot = snapshotWith({ way: { status: "complete", output: "False" }, join: { status: "complete" } });
  const way = { source: "way", target: "join" };
  expect(edgeRunState(snapshot, graph, { ...way, sourceHandle: "true" })).toBe("skipped");
  expect(edgeRunState(snapshot, graph, { ...way, sourceHandle: "false" })).toBe("taken");
});

test("of a review the decision, with or without a comment", () => {
  const ask = { source: "ask", target: "a", sourceHandle: "approved" };
  const decided = (output: string) => snapshotWith({ ask: { status: "complete", output }, a: { status: "complete" } });
  expect(edgeRunState(decided("approved: fine"), graph, ask)).toBe("taken");
  expect(edgeRunState(decided("rejected"), graph, ask)).toBe("skipped");
});

test("while a run goes on: what came along waits at a join, what has not come yet is queued", () => {
  const running = snapshotWith({ a: { status: "complete", output: "x" }, ask: { status: "running" }, join: { status: "idle" } }, "running");
  expect(edgeRunState(running, graph, { source: "a", target: "join" })).toBe("taken");
  expect(edgeRunState(running, graph, { source: "ask", target: "join", sourceHandle: "approved" })).toBe("queued");
  expect(edgeRunState(running, graph, { source: "way", target: "join" })).toBe("none");
  expect(edgeRunState(null, null, { source: "a", target: "join" })).toBe("none");
  const stopped = snapshotWith({ a: { status: "complete", output: "x" }, join: { status: "skipped", stopped: true } }, "cancelled");
  expect(edgeRunState(stopped, graph, { source: "a", target: "join" })).toBe("taken");
});

test("in a loop the only way to a node was taken when some item came to it, whatever way the latest went", () => {
  const body = { ...graph, edges: [{ id: "e", source: "way", target: "a", sourceHandle: "true" }] };
  const item = (status: "complete" | "skipped", iteration: string) => ({ status, iteration, output: "False" });
  const way = { source: "way", target: "a", sourceHandle: "true" };
  expect(edgeRunState(snapshotWith({ way: item("complete", "9"), a: item("complete", "3") }), body, way)).toBe("taken");
  expect(edgeRunState(snapshotWith({ way: item("complete", "9"), a: item("skipped", "9") }), body, way)).toBe("skipped");
  const joined = { ...body, edges: [...body.edges, { id: "f", source: "ask", target: "a" }] };
  expect(edgeRunState(snapshotWith({ way: item("complete", "9"), a: item("complete", "3") }), joined, way)).toBe("skipped");
});

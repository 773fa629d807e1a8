import { beforeEach, expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { maskerOf } from "#server/platform/masking/masker.ts";
import { DeltaBuffer } from "#server/runs/executor/delta-buffer.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeEach(async () => {
  admin = await database.newAdmin();
});

/** Says the first half of an answer, and never the rest. */
const half: EngineServices["callAgent"] = ({ onDelta, signal }) =>
  new Promise((_, reject) => {
    onDelta("Half of ");
    onDelta("an answer");
    signal.addEventListener("abort", () => reject(signal.reason));
  });
const hasTold = (execution_id: string) => until(() => db().executionEvent.findFirst({ where: { execution_id, type: "node_delta" } }));
const stopped = { status: "skipped", stopped: true, output: "Half of an answer", error: null };

test("a call that is stopped with its run keeps what had come of its answer, and says so in results and log", async () => {
  const graph = graphOf({
    nodes: { Start: ["triggerNode"], Ask: ["agentNode", { agent_id: "any" }], Late: ["outputNode"] },
    edges: ["Start>Ask", "Ask>Late"],
  });
  const execution_id = await startStoredRun(admin, graph);
  const running = claimAndExecute(storedServices({ callAgent: half }), execution_id, 60);
  await hasTold(execution_id);
  await cancelExecution(admin, { execution_id });
  await running;
  const { status, node_results } = await getExecution(admin, { execution_id });
  expect(status).toBe("cancelled");
  expect(node_results.Ask).toMatchObject(stopped);
  // What was never begun was not stopped.
  expect(node_results.Late).not.toHaveProperty("stopped");
  const { items } = await getExecutionLogs(admin, { execution_id, node_id: "Ask" });
  expect(items).toMatchObject([stopped]);
});

test("so does a call that another branch ends", async () => {
  const graph = graphOf({
    nodes: {
      Start: ["triggerNode"],
      Slow: ["agentNode", { agent_id: "slow" }],
      Quick: ["agentNode", { agent_id: "quick" }],
      End: ["terminateNode", { status: "failed", message: "Enough" }],
    },
    edges: ["Start>Slow", "Start>Quick", "Quick>End"],
  });
  const execution_id = await startStoredRun(admin, graph);
  const callAgent: EngineServices["callAgent"] = async (call) => {
    if (call.agent_id === "slow") return half(call);
    await hasTold(execution_id);
    return { output: "Done" };
  };
  await claimAndExecute(storedServices({ callAgent }), execution_id, 60);
  const { node_results } = await getExecution(admin, { execution_id });
  expect(node_results.Slow).toMatchObject(stopped);
  expect(node_results.Quick).toMatchObject({ status: "complete", output: "Done" });
});

test("of a secret that is cut off in its middle nothing is kept", () => {
  const deltas = new DeltaBuffer(async () => {}, { now: () => new Date() }, maskerOf(["s3cret-of-the-house"]));
  const source = { node_id: "a", iteration: "" };
  deltas.add(source, "It is s3cret-of-the-house, and again s3cret-of-");
  expect(deltas.soFar(source)).toBe("It is ••••, and again ");
  deltas.reset(source);
  expect(deltas.soFar(source)).toBeNull();
  deltas.stop();
});

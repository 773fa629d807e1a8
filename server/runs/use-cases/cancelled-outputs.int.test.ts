import { expect, test } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("Outputs reached are told while the run waits, and kept when it is cancelled", async () => {
  const admin = await database.newAdmin();
  collectEvents();
  const graph = graphOf({
    nodes: {
      Start: ["triggerNode"],
      First: ["outputNode", { value: "early: {{trigger.output}}", format: "markdown" }],
      Each: ["loopNode", { items_expression: '["a", "b"]' }],
      Item: ["outputNode", { value: "item {{Each.current_item}}" }],
      Check: ["humanLoopNode"],
      Late: ["outputNode"],
    },
    edges: ["Start>First", "First>Each", "Each.body>Item", "Each.done>Check", "Check.approved>Late"],
  });
  const execution_id = await startStoredRun(admin, graph);
  await claimAndExecute(storedServices(), execution_id, 60);

  const reached = [
    { node_id: "First", label: "First", format: "markdown", value: "early: x" },
    { node_id: "Item", label: "Item", format: "passthrough", value: '["item a","item b"]' },
  ];
  expect(await getExecution(admin, { execution_id })).toMatchObject({ status: "paused", output: null, outputs: reached });
  expect(await cancelExecution(admin, { execution_id })).toMatchObject({ status: "cancelled", output: null, outputs: reached });
  expect((await getExecution(admin, { execution_id })).outputs).toEqual(reached);
});

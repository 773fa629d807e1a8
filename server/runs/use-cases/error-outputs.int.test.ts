import { beforeAll, expect, test } from "vitest";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { getNodeOutput } from "#server/runs/use-cases/get-node-output.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let execution_id: string;
beforeAll(async () => {
  admin = await database.newAdmin();
  const graph = graphOf({
    nodes: {
      t: ["triggerNode"],
      goes: ["codeNode", { code: "1/0", on_error: "continue" }],
      o: ["outputNode", { value: "{{goes.output}}" }],
      fails: ["codeNode", { code: "1/0" }],
    },
    edges: ["t>goes", "goes>o", "o>fails"],
  });
  execution_id = await startStoredRun(admin, graph);
  const failing = storedServices({ runCode: async () => ({ failure: "division by zero", printed: "" }) });
  await claimAndExecute(failing, execution_id, 60);
});

test("node_results of a failed node that continues have the error as output", async () => {
  const { node_results } = await getExecution(admin, { execution_id });

  expect(node_results.goes).toMatchObject({ status: "failed", output: "division by zero", error: "division by zero" });
});

test("the log of a failed node that continues has the error as output", async () => {
  const { items } = await getExecutionLogs(admin, { execution_id, node_id: "goes" });

  expect(items).toMatchObject([{ status: "failed", output: "division by zero", error: "division by zero" }]);
});

test("the whole output of a failed node that continues is the error", async () => {
  expect(await getNodeOutput(admin, { execution_id, node_id: "goes", iteration: "" })).toMatchObject({ output: "division by zero" });
});

test("expressions read the same output", async () => {
  const { node_results } = await getExecution(admin, { execution_id });

  expect(node_results.o?.output).toBe("division by zero");
});

test("a node whose failure ends the run has no output", async () => {
  const { node_results } = await getExecution(admin, { execution_id });

  expect(node_results.fails).toMatchObject({ status: "failed", output: null });
});

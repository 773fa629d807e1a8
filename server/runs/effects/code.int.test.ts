import { beforeAll, expect, test } from "vitest";
import { createCredential } from "#server/features/credentials/service.ts";
import { readCredentialValues } from "#server/features/credentials/values.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  collectEvents();
});

const go = (id: string) => claimAndExecute(storedServices({ credentials: readCredentialValues }), id, 60);
const logOf = async (execution_id: string, id: string) =>
  (await getExecutionLogs(admin, { execution_id })).items.filter(({ node_id }) => node_id === id);

test("what code prints stands in the log, also of a run that takes it over, and a secret in its input is masked", async () => {
  await createCredential(admin, { name: "KEY", value: "secret-value" });
  const inputs = [{ name: "key", value: "{{credentials.KEY}}" }];
  const code = { code: "print('got ' + key)\n{'length': len(key), 'turned': ''.join(reversed(key))}", inputs, timeout: 5 };
  const failing = { code: "print('before')\n1 / 0", on_error: "continue", timeout: 5 };
  const nodes = { t: ["triggerNode"], c: ["codeNode", code], f: ["codeNode", failing], o: ["outputNode"] } as const;
  const id = await startStoredRun(admin, graphOf({ nodes: structuredClone(nodes) as never, edges: ["t>c", "c>f", "f>o"] }));
  await go(id);
  const run = await getExecution(admin, { execution_id: id });
  expect(run).toMatchObject({ status: "completed", output: "Line 2: ZeroDivisionError: division by zero." });
  expect(JSON.stringify([run, await getExecutionLogs(admin, { execution_id: id })])).not.toMatch(/secret-value|eulav-terces/);
  expect(await logOf(id, "c")).toMatchObject([
    { input: '{"key":"••••"}', output: '{"length":4,"turned":"••••"}', printed: "got ••••\n", status: "complete" },
  ]);
  expect(await logOf(id, "f")).toMatchObject([{ status: "failed", printed: "before\n" }]);
  expect((await logOf(id, "o"))[0]).not.toHaveProperty("printed");
  const { execution_id } = await rerunExecution(admin, { execution_id: id, from_node_id: "o", use_current: false });
  await go(execution_id);
  expect(await logOf(execution_id, "c")).toMatchObject([{ printed: "got ••••\n" }]);
});

test("what is wrong with code is among the workflow's problems", async () => {
  const nodes = {
    t: ["triggerNode"],
    c: ["codeNode", { code: "a = 1\nimport os", inputs: [{ name: "x", value: "{{No.output}}" }] }],
  } as const;
  const { problems } = await createWorkflow(admin, {
    name: "Wrong code",
    ...graphOf({ nodes: structuredClone(nodes) as never, edges: ["t>c"] }),
  });
  expect(problems).toMatchObject([
    { node_id: "c", field: "code", message: "Line 2: there is no module os here. There are re, json, math, datetime." },
    { node_id: "c", field: "inputs.0.value", message: expect.stringContaining("names nothing in this workflow") },
  ]);
});

import { expect, test } from "vitest";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

const database = testDatabase();
const MIB = 1024 * 1024;

/** As many items of a loop, each with an output of so many characters. */
const addItems = (execution_id: string, count: number, characters: number) =>
  pool().query(
    `WITH added AS (
       INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, started_at, input_tokens, output_tokens)
       SELECT gen_random_uuid(), $1, 'a', n::text, 1, 'complete', now() + n * interval '1 ms', 0, 0 FROM generate_series(0, $2::int - 1) AS n RETURNING id
     )
     INSERT INTO node_run_values (node_run_id, input, output) SELECT id, 'short', repeat('🧵', $3::int) FROM added`,
    [execution_id, count, characters],
  );

test("a large log has the beginnings of its texts, one item of it the whole, and what is too much is refused with what to do", async () => {
  const admin = await database.newAdmin();
  const nodes = [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "t" } }];
  const { id } = await createWorkflow(admin, { name: "Large", nodes, edges: [] });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id } });
  const common = { project_id: admin.project.id, workflow_id: id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  const start = async () => (await startExecution({ ...common, trigger: "manual", input: "", params: null })).execution_id;

  const few = await start();
  await addItems(few, 8, 3 * MIB);
  const { items } = await getExecutionLogs(admin, { execution_id: few, node_id: "a" });
  const beginning = "🧵".repeat(PREVIEW_CHARACTERS);
  expect(items).toHaveLength(8);
  for (const item of items) expect(item).toMatchObject({ input: "short", output: beginning, truncated: true });
  const [one] = (await getExecutionLogs(admin, { execution_id: few, node_id: "a", iteration: "7" })).items;
  expect(one).not.toHaveProperty("truncated");
  expect(one?.output === "🧵".repeat(3 * MIB)).toBe(true);

  const many = await start();
  await addItems(many, 18_000, PREVIEW_CHARACTERS);
  await expect(getExecutionLogs(admin, { execution_id: many })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringMatching(/^This log has 13\d MiB, too much for one answer\. Ask for one node with node_id/),
  });
  await expect(getExecutionLogs(admin, { execution_id: many, node_id: "a" })).rejects.toMatchObject({
    errors: [{ path: "iteration", message: expect.stringMatching(/Ask for one item of a loop with iteration\.$/) }],
  });
  expect((await getExecutionLogs(admin, { execution_id: many, iteration: "17999" })).items).toMatchObject([{ output: beginning }]);
});

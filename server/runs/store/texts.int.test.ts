import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { followExecution } from "#server/runs/use-cases/follow-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { getNodeOutput } from "#server/runs/use-cases/get-node-output.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const position = { x: 0, y: 0 };
const NODES = 40;

/** A trigger and a row of Output nodes, each of which passes on what came in. */
const chain = () => ({
  nodes: [
    { id: "t", type: "triggerNode", position, data: { label: "Start" } },
    ...Array.from({ length: NODES }, (_, n) => ({ id: `o${n}`, type: "outputNode", position, data: { label: `Out ${n}` } })),
  ],
  edges: Array.from({ length: NODES }, (_, n) => ({ id: `e${n}`, source: n === 0 ? "t" : `o${n - 1}`, target: `o${n}` })),
});

/** Bytes on the disk of everything that executions hold. */
async function storedBytes(): Promise<number> {
  const tables = ["executions", "execution_values", "execution_events", "node_runs", "node_run_values", "run_texts"];
  const { rows } = await pool().query<{ bytes: string }>(
    "SELECT sum(pg_total_relation_size(name::regclass)) AS bytes FROM unnest($1::text[]) AS name",
    [tables],
  );
  return Number(rows[0]?.bytes);
}

test("a long text that goes through many nodes is stored a few times, not twice for each, and is read whole everywhere", async () => {
  const admin = await database.newAdmin();
  const { signal } = new AbortController();
  // As long as an event may be, and nothing that could be compressed.
  const input = randomBytes(95 * 1024).toString("base64");
  const before = await storedBytes();
  const execution_id = await startStoredRun(admin, chain(), input);
  expect(await claimAndExecute(storedServices(), execution_id, 60)).toEqual({ kind: "over" });
  // The run's own output is one text of all of them; beside it there were five copies for each node.
  expect((await storedBytes()) - before).toBeLessThan((NODES + 10) * input.length);

  const { status, outputs, node_results } = await getExecution(admin, { execution_id });
  expect(status).toBe("completed");
  expect(outputs).toHaveLength(NODES);
  for (const { value } of outputs) expect(value === input).toBe(true);
  for (const { output } of Object.values(node_results)) expect(output === input).toBe(true);
  const { items } = await getExecutionLogs(admin, { execution_id });
  expect(items.map((item) => item.output === input)).toEqual(items.map(() => true));
  expect(items.filter((item) => item.input === input)).toHaveLength(NODES + 1);
  expect((await getNodeOutput(admin, { execution_id, node_id: "o7", iteration: "" })).output === input).toBe(true);
  const told: unknown[] = [];
  for await (const event of await followExecution({ project_id: admin.project.id, execution_id }, 0, signal, 1000))
    if (event !== "idle" && event.type.endsWith("_complete")) told.push(event.data);
  expect(told).toHaveLength(NODES + 2);
  for (const data of told.slice(0, -1)) expect(data).toEqual({ ...(data as object), output: input });
  for (const data of told) expect(Object.keys(data as object)).not.toContain("output_hash");

  // What a rerun takes over is its own: it outlives the execution that it comes from.
  const again = await rerunExecution(admin, { execution_id, from_node_id: `o${NODES - 1}`, use_current: false });
  expect(await claimAndExecute(storedServices(), again.execution_id, 60)).toEqual({ kind: "over" });
  await db().execution.delete({ where: { id: execution_id } });
  const rerun = await getExecution(admin, { execution_id: again.execution_id });
  expect(rerun.node_results.o3).toMatchObject({ reused: true, output: input });
  expect(rerun.outputs.every(({ value }) => value === input)).toBe(true);
  const left = await pool().query("SELECT execution_id FROM run_texts");
  expect(left.rows).toEqual([{ execution_id: again.execution_id }]);
});

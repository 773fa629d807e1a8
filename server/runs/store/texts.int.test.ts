import { hash, randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { readEnding } from "#server/runs/store/executions.ts";
import { followExecution } from "#server/runs/use-cases/follow-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { getNodeOutput } from "#server/runs/use-cases/get-node-output.ts";
import { objectText } from "#server/shared/json-text.ts";
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
  // Parts of an output are written before it is put together; their space is free for others then.
  await pool().query("VACUUM run_texts");
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
  expect(await claimAndExecute(storedServices(), execution_id, 60)).toMatchObject({ kind: "over" });
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
  expect(await claimAndExecute(storedServices(), again.execution_id, 60)).toMatchObject({ kind: "over" });
  await db().execution.delete({ where: { id: execution_id } });
  const rerun = await getExecution(admin, { execution_id: again.execution_id });
  expect(rerun.node_results.o3).toMatchObject({ reused: true, output: input });
  expect(rerun.outputs.every(({ value }) => value === input)).toBe(true);
  const left = await pool().query("SELECT execution_id FROM run_texts");
  expect(left.rows).toEqual([{ execution_id: again.execution_id }]);
});

/** Characters of the longest text that a statement was given while `work` went on. */
async function longestParameter(work: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(pool(), "query");
  try {
    await work();
    const given = spy.mock.calls.flatMap(([statement]) => (statement as unknown as { values?: unknown[] }).values ?? []);
    return Math.max(...given.flat().map((value) => (typeof value === "string" ? value.length : 0)));
  } finally {
    spy.mockRestore();
  }
}

const MIB = 1024 * 1024;
/** Four Outputs of 2 MiB, one of them JSON. */
const fourLong = () => {
  const values = [
    "{{trigger.output}}{{trigger.output}}",
    '["{{trigger.output}}","{{trigger.output}}"]',
    "x{{trigger.output}}{{trigger.output}}",
    "",
  ];
  const nodes = values.map((value, n) => ({ id: `o${n}`, type: "outputNode", position, data: { label: `Out ${n}`, value } }));
  return {
    nodes: [{ id: "t", type: "triggerNode", position, data: { label: "Start" } }, ...nodes],
    edges: nodes.map(({ id }, n) => ({ id: `e${n}`, source: n === 0 ? "t" : `o${n - 1}`, target: id })),
  };
};

test("a very long text is stored in parts and read whole everywhere", async () => {
  const admin = await database.newAdmin();
  const input = "long ü ".repeat(MIB / 7);
  const execution_id = await startStoredRun(admin, fourLong(), input);
  const longest = await longestParameter(() => claimAndExecute(storedServices(), execution_id, 60));
  expect(longest).toBeLessThan(0.75 * MIB);

  const expected = [`${input}${input}`, `["${input}","${input}"]`, `x${input}${input}`, `x${input}${input}`];
  const { status, outputs } = await getExecution(admin, { execution_id });
  expect(status).toBe("completed");
  expect(outputs.map(({ value }, n) => value === expected[n])).toEqual([true, true, true, true]);
  expect((await getNodeOutput(admin, { execution_id, node_id: "o1", iteration: "" })).output === expected[1]).toBe(true);
  const ending = await readEnding(execution_id);
  expect(ending?.output === objectText(expected.map((value, n) => [`Out ${n}`, value]))).toBe(true);

  // Each text is there once, under its hash, and nothing is left of the output's parts.
  const kept = await pool().query<{ hash: string; sum: string }>(
    "SELECT hash, md5(string_agg(text, '' ORDER BY part)) AS sum FROM run_texts WHERE execution_id = $1 GROUP BY hash",
    [execution_id],
  );
  expect(new Set(kept.rows.map(({ sum }) => sum)).size).toBe(kept.rows.length);
  expect(kept.rows.filter(({ hash }) => !/^[\w-]{43}(\/parts)?$/.test(hash))).toEqual([]);
});

test("the very long text of a review is stored in parts and passed on whole", async () => {
  const admin = await database.newAdmin();
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start" } },
    { id: "h", type: "humanLoopNode", position, data: { label: "Look", display_value: "<{{trigger.output}}>" } },
  ];
  const execution_id = await startStoredRun(admin, { nodes, edges: [{ id: "e", source: "t", target: "h" }] }, "c".repeat(MIB));
  const longest = await longestParameter(() => claimAndExecute(storedServices(), execution_id, 60));
  expect(longest).toBeLessThan(0.75 * MIB);
  const wait = await db().wait.findFirstOrThrow({ where: { execution_id } });
  expect(wait.display_value === `<${"c".repeat(MIB)}>`).toBe(true);
});

test("a very long text stored whole by an earlier release is not mixed with parts", async () => {
  const admin = await database.newAdmin();
  const { nodes, edges } = fourLong();
  const execution_id = await startStoredRun(admin, { nodes: nodes.slice(0, 2), edges: edges.slice(0, 1) }, "d".repeat(MIB));
  const text = "d".repeat(2 * MIB);
  const earlier = "INSERT INTO run_texts (execution_id, hash, text) VALUES ($1, $2, $3)";
  await pool().query(earlier, [execution_id, hash("sha256", text, "base64url"), text]);
  expect(await claimAndExecute(storedServices(), execution_id, 60)).toMatchObject({ kind: "over" });
  expect((await getNodeOutput(admin, { execution_id, node_id: "o0", iteration: "" })).output === text).toBe(true);
});

test("a very long result of one Output is the output of its run", async () => {
  const admin = await database.newAdmin();
  const { nodes, edges } = fourLong();
  const execution_id = await startStoredRun(admin, { nodes: nodes.slice(0, 2), edges: edges.slice(0, 1) }, "a".repeat(MIB));
  const longest = await longestParameter(() => claimAndExecute(storedServices(), execution_id, 60));
  expect(longest).toBeLessThan(0.75 * MIB);
  expect((await readEnding(execution_id))?.output === "a".repeat(2 * MIB)).toBe(true);
});

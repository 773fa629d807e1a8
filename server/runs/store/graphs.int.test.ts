import { beforeAll, expect, test } from "vitest";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let workflow_id: string;
beforeAll(async () => {
  workflow_id = (await createWorkflow(await database.newAdmin(), { name: "Large" })).id;
});

/** Made where it is stored: megabytes that no test need send. @returns the snapshot's id */
async function storeGraph(characters: number): Promise<string> {
  const node = { id: "t", type: "noteNode", position: { x: 0, y: 0 }, data: { label: "t" } };
  const { id } = await db().workflowSnapshot.create({
    data: { workflow_id, hash: crypto.randomUUID(), graph: { nodes: [node], edges: [] } },
  });
  await pool().query(
    "UPDATE workflow_snapshots SET graph = jsonb_set(graph, '{nodes,0,data,content}', to_jsonb(repeat('x', $2))) WHERE id = $1",
    [id, characters],
  );
  return id;
}

test("graphs stay in memory as long as there is room for them, which few of the largest take up", async () => {
  const [small, large] = [await storeGraph(10), await storeGraph(4_000_000)];
  const kept = [await snapshotGraph(small), await snapshotGraph(large)];
  expect(await snapshotGraph(large)).toBe(kept[1]);
  for (let n = 0; n < 20; n++) await snapshotGraph(await storeGraph(4_000_000));
  const again = [await snapshotGraph(small), await snapshotGraph(large)];
  expect(again).toEqual(kept);
  expect(again[1]).not.toBe(kept[1]);
});

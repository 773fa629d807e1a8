import { expect, test } from "vitest";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { noteStored } from "#server/runs/store/space.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("bytes noted inside a transaction are counted while it is open", async () => {
  const { project } = await database.newAdmin();
  const counted = async () => (await pool().query("SELECT runs::int FROM project_storage WHERE project_id = $1", [project.id])).rows;

  await inTransaction(async () => {
    noteStored(project.id, "runs", 5);

    await expect.poll(() => asOtherCaller(counted)).toEqual([{ runs: 5 }]);
  });
});

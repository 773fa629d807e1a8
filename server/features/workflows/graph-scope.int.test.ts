import { expect, test } from "vitest";
import { createCredential, deleteCredential } from "#server/features/credentials/service.ts";
import { assertRunnable } from "#server/features/workflows/execute.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db } from "#server/platform/db/client.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const reading = (name: string) =>
  graphOf({
    nodes: { t: ["triggerNode"], o: ["outputNode", { value: `{{credentials.${name}}}` }] },
    edges: ["t>o"],
  });

test("a graph that names a credential is asked about those of its own project, at save and before each run", async () => {
  const [admin, stranger] = [await database.newAdmin(), await database.newAdmin()];
  await createCredential(stranger, { name: "TOKEN", value: "somebody else's" });
  const graph = reading("TOKEN");
  const { problems } = await createWorkflow(admin, { name: "Reader", ...graph });
  expect(problems).toMatchObject([
    { node_id: "o", field: "value", message: expect.stringContaining('the project has no credential "TOKEN"') },
  ]);
  await expect(assertRunnable(admin.project.id, graph)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });

  await createCredential(admin, { name: "TOKEN", value: "ours-and-secret" });
  await assertRunnable(admin.project.id, graph);
  await expect(assertRunnable(admin.project.id, reading("TOKN"))).rejects.toThrow('Did you mean "TOKEN"?');
  expect((await createWorkflow(admin, { name: "Reads what is there", ...graph })).problems).toEqual([]);

  // A graph that was sound is asked again when the project's credentials are others.
  await db().workflow.deleteMany({ where: { project_id: admin.project.id } });
  const { id: cred_id } = await db().credential.findFirstOrThrow({ where: { project_id: admin.project.id } });
  await deleteCredential(admin, { cred_id });
  await expect(assertRunnable(admin.project.id, graph)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

import { expect, test } from "vitest";
import { graphOf } from "#e2e/api/graphs.ts";
import { MIN_CREDENTIAL_LENGTH } from "#server/features/credentials/schema.ts";
import {
  createCredential,
  deleteCredential,
  listCredentials,
  replaceCredential,
  workflowsReading,
} from "#server/features/credentials/service.ts";
import { readCredentialValues } from "#server/features/credentials/values.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { createWorkflow, deleteWorkflow } from "#server/features/workflows/service.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { SHORTEST } from "#server/platform/masking/secret-forms.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const SECRET = "tok_5f3b0c9d8e7a";

/** A graph whose Output holds this template. */
const outputOf = (value: string) => graphOf({ Start: ["trigger", { kind: "manual" }], Result: ["output", { value }] }, ["Start>Result"]);

const readers = async (admin: ProjectPrincipal, name: string) =>
  (await workflowsReading(admin.project.id, name)).map((workflow) => workflow.name);

test("a value is stored encrypted, opens again, and stands in no answer and no audit entry", async () => {
  const admin = await database.newAdmin();
  const created = await createCredential(admin, { name: "TOKEN", value: SECRET });
  const stored = await db().credential.findUniqueOrThrow({ where: { id: created.id } });
  const shown = [created, stored, await listCredentials(admin, { page: 1, per_page: 50 })];
  const audit = await db().auditEntry.findMany({ where: { project_id: admin.project.id } });
  expect(JSON.stringify([shown, audit])).not.toContain(SECRET);
  expect(audit).toMatchObject([{ action: "credential.create", resource_id: created.id, resource_name: "TOKEN" }]);
  expect(await readCredentialValues(admin.project.id)).toEqual(new Map([["TOKEN", SECRET]]));
});

test("a project reads its own values only", async () => {
  const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
  await createCredential(ada, { name: "TOKEN", value: "ada's value" });
  await createCredential(bob, { name: "TOKEN", value: "bob's value" });
  expect(await readCredentialValues(ada.project.id)).toEqual(new Map([["TOKEN", "ada's value"]]));
});

test("a value is replaced under its name, which the audit log tells", async () => {
  const admin = await database.newAdmin();
  const { id } = await createCredential(admin, { name: "TOKEN", value: "old value" });
  const stranger = await database.newAdmin();
  await expect(replaceCredential(stranger, { cred_id: id, value: "mine" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await replaceCredential(admin, { cred_id: id, value: "new value" })).toMatchObject({ id, name: "TOKEN" });
  expect(await readCredentialValues(admin.project.id)).toEqual(new Map([["TOKEN", "new value"]]));
  expect(await db().auditEntry.count({ where: { resource_id: id, action: "credential.update" } })).toBe(1);
});

for (const template of [
  "{{credentials.TOKEN}}",
  "Bearer {{ credentials.TOKEN }}!",
  '{{credentials["TOKEN"]}}',
  "{{Credentials.TOKEN}}",
  "{{trigger.output}} {{credentials.TOKEN}}",
])
  test(`${template} reads the credential`, async () => {
    const admin = await database.newAdmin();
    await createWorkflow(admin, { name: "Reader", ...outputOf(template) });
    expect(await readers(admin, "TOKEN")).toEqual(["Reader"]);
  });

for (const template of [
  "{{credentials.TOKEN_2}}",
  "{{credentials.token}}",
  "credentials.TOKEN",
  "{{trigger.credentials.TOKEN}}",
  "{{credentials.OTHER.TOKEN}}",
  "{{credentials.OTHER}} and TOKEN",
])
  test(`${template} does not`, async () => {
    const admin = await database.newAdmin();
    await createWorkflow(admin, { name: "Other", ...outputOf(template) });
    expect(await readers(admin, "TOKEN")).toEqual([]);
  });

test("a note that mentions it is no use of it", async () => {
  const admin = await database.newAdmin();
  const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Hint: ["note", { content: "{{credentials.TOKEN}}" }] }, []);
  await createWorkflow(admin, { name: "Noted", ...graph });
  expect(await readers(admin, "TOKEN")).toEqual([]);
});

test("a use that only the draft has counts, one in a deleted workflow or another project does not", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  const { id } = await createCredential(admin, { name: "TOKEN", value: SECRET });
  await createWorkflow(other, { name: "Elsewhere", ...outputOf("{{credentials.TOKEN}}") });
  const workflow = await createWorkflow(admin, { name: "Drafted", ...outputOf("") });
  const { draft } = await getEditorState(admin, { workflow_id: workflow.id });
  await saveDraft(admin, { workflow_id: workflow.id, ...outputOf("{{credentials.TOKEN}}"), revision: draft.revision });
  await createWorkflow(admin, { name: "Alpha", ...outputOf("{{credentials.TOKEN}}") });
  await expect(deleteCredential(admin, { cred_id: id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining('the workflows "Alpha" and "Drafted"'),
  });
  const workflows = await db().workflow.findMany({ where: { project_id: admin.project.id }, select: { id: true } });
  for (const { id: workflow_id } of workflows) await deleteWorkflow(admin, { workflow_id });
  await deleteCredential(admin, { cred_id: id });
  await expect(deleteCredential(admin, { cred_id: id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("the shortest accepted value is the shortest that is masked", () => {
  expect(MIN_CREDENTIAL_LENGTH).toBe(SHORTEST);
});

test("a value over REST is replaced while a workflow reads it", async () => {
  const admin = await database.newAdmin();
  const { id } = await createCredential(admin, { name: "TOKEN", value: SECRET });
  await createWorkflow(admin, { name: "Reader", ...outputOf("{{credentials.TOKEN}}") });
  const { key } = await createPlatformKey(admin, { name: "Key" });
  const put = (body: object) =>
    handleRest(
      new Request(`http://localhost:4000/api/v1/credentials/${id}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );

  const answer = await put({ id, name: "TOKEN", value: "rotated value" });

  expect(answer.status).toBe(200);
  expect(Object.keys(await answer.json()).sort()).toEqual(["created_at", "id", "name"]);
  expect(await readCredentialValues(admin.project.id)).toEqual(new Map([["TOKEN", "rotated value"]]));
  const short = await put({ value: "12345" });
  expect([short.status, (await short.json()).errors]).toEqual([422, [expect.objectContaining({ path: "value" })]]);
  expect(await readCredentialValues(admin.project.id)).toEqual(new Map([["TOKEN", "rotated value"]]));
});

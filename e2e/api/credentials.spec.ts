import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Credential, CredentialPage } from "#server/features/credentials/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const SECRET = "tok_5f3b0c9d8e7a";
const NEVER = "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10";

/** A graph whose Output holds this template. */
const outputOf = (value: string) => graphOf({ Start: ["trigger", { kind: "manual" }], Result: ["output", { value }] }, ["Start>Result"]);

test("a credential is added, listed by name, and deleted; its value never comes back", async ({ api }) => {
  const created = await api.post("/credentials", { name: "GITHUB_TOKEN", value: SECRET }, { schema: Credential, status: 201 });
  expect(Object.keys(created.body).sort()).toEqual(["created_at", "id", "name"]);
  const list = await api.get("/credentials", { schema: CredentialPage, status: 200 });
  expect(list.body).toEqual({ items: [created.body], total: 1, page: 1, per_page: 50 });
  const gone = await api.del(`/credentials/${created.body.id}`);
  expect([gone.status, gone.body]).toEqual([204, undefined]);
  await api.del(`/credentials/${created.body.id}`, { schema: ErrorBody, status: 404 });
  expect((await api.get("/credentials", { schema: CredentialPage })).body.total).toBe(0);
});

test("the list is newest first, in pages", async ({ api }) => {
  for (const name of ["ONE", "TWO", "THREE"]) await api.post("/credentials", { name, value: SECRET }, { status: 201 });
  const names = async (query: string) =>
    (await api.get(`/credentials?${query}`, { schema: CredentialPage, status: 200 })).body.items.map(({ name }) => name);
  expect(await names("per_page=2")).toEqual(["THREE", "TWO"]);
  expect(await names("per_page=2&page=2")).toEqual(["ONE"]);
  await api.get("/credentials?per_page=201", { schema: ErrorBody, status: 422 });
});

for (const { what, more, path, says } of [
  { what: "a name with a hyphen", more: { name: "GITHUB-TOKEN" }, path: "name", says: "letters, digits and underscores" },
  { what: "a name with braces", more: { name: "a}}" }, path: "name", says: "letters, digits and underscores" },
  { what: "a name with a dot", more: { name: "a.b" }, path: "name", says: "letters, digits and underscores" },
  { what: "a name of another alphabet", more: { name: "schlüssel" }, path: "name", says: "letters, digits and underscores" },
  { what: "a long name", more: { name: "a".repeat(101) }, path: "name", says: "100" },
  { what: "no value", more: { value: undefined }, path: "value", says: "required" },
  { what: "an empty value", more: { value: " \n" }, path: "value", says: "Use at least 6 characters" },
  { what: "a value too short to be masked", more: { value: "12345" }, path: "value", says: "cannot be masked" },
  { what: "a long value", more: { value: "x".repeat(20_001) }, path: "value", says: "20,000" },
  { what: "an unknown field", more: { vaule: "x" }, path: "vaule", says: "no such field" },
])
  test(`${what} is refused with the field, and nothing is stored`, async ({ api }) => {
    const fields = { name: "TOKEN", value: SECRET, ...more };
    const { body } = await api.post("/credentials", fields, { schema: ErrorBody, status: 422 });
    expect(body.error_code).toBe("VALIDATION_ERROR");
    expect(body.errors?.map((error) => error.path)).toContain(path);
    expect(body.errors?.find((error) => error.path === path)?.message).toContain(says);
    expect((await api.get("/credentials", { schema: CredentialPage })).body.total).toBe(0);
  });

test("a name is used once in a project, and free in another", async ({ api, newProject }) => {
  await api.post("/credentials", { name: "TOKEN", value: SECRET }, { status: 201 });
  const { body } = await api.post("/credentials", { name: "TOKEN", value: "another" }, { schema: ErrorBody, status: 409 });
  expect(body).toMatchObject({ error_code: "CONFLICT", detail: expect.stringContaining('"TOKEN"') });
  expect(JSON.stringify(body)).not.toContain(SECRET);
  const other = await newProject();
  await other.api.post("/credentials", { name: "TOKEN", value: SECRET }, { schema: Credential, status: 201 });
});

test("viewers and editors see the names; only admins add and delete", async ({ api, newUser }) => {
  const { body: credential } = await api.post("/credentials", { name: "TOKEN", value: SECRET }, { schema: Credential });
  for (const role of ["viewer", "editor"] as const) {
    const { api: member } = await newUser({ role });
    expect((await member.get("/credentials", { schema: CredentialPage, status: 200 })).body.items).toEqual([credential]);
    for (const { body } of [
      await member.post("/credentials", { name: "OTHER", value: SECRET }, { schema: ErrorBody, status: 403 }),
      await member.del(`/credentials/${credential.id}`, { schema: ErrorBody, status: 403 }),
    ])
      expect(body.error_code).toBe("PERMISSION_DENIED");
  }
  const { api: admin } = await newUser({ role: "admin" });
  await admin.del(`/credentials/${credential.id}`, { status: 204 });
});

test("a credential of another project answers like one that never existed", async ({ api, newProject }) => {
  const { body: credential } = await api.post("/credentials", { name: "TOKEN", value: SECRET }, { schema: Credential });
  const other = await newProject();
  for (const id of [credential.id, NEVER, "no-uuid"]) {
    const { body } = await other.api.del(`/credentials/${id}`, { schema: ErrorBody, status: 404 });
    expect(body).toEqual({ detail: "There is no such credential in this project.", error_code: "NOT_FOUND", status: 404 });
  }
  expect((await other.api.get("/credentials", { schema: CredentialPage })).body.total).toBe(0);
  expect((await api.get("/credentials", { schema: CredentialPage })).body.total).toBe(1);
});

test("a credential that a workflow reads is not deleted; the refusal names the workflow", async ({ api, workflow }) => {
  const { body: credential } = await api.post("/credentials", { name: "TOKEN", value: SECRET }, { schema: Credential });
  const reader = await workflow({ name: "Nightly sync", ...outputOf("Bearer {{credentials.TOKEN}}") });
  await workflow({ name: "Bystander", ...outputOf("{{credentials.TOKEN_2}}") });
  const { body } = await api.del(`/credentials/${credential.id}`, { schema: ErrorBody, status: 409 });
  expect(body.error_code).toBe("CONFLICT");
  expect(body.detail).toContain('the workflow "Nightly sync".');
  await api.put(`/workflows/${reader.id}`, outputOf("{{trigger.output}}"), { status: 200 });
  await api.del(`/credentials/${credential.id}`, { status: 204 });
});

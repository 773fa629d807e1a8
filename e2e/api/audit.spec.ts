import { createHmac, randomUUID } from "node:crypto";
import { graphOf } from "#e2e/api/graphs.ts";
import type { apiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { AuditPage } from "#server/features/audit/schema.ts";
import { WebhookSetup } from "#server/features/webhooks/schema.ts";
import { Execution } from "#server/runs/schema.ts";

// Who did what, and what is left when people and projects go.

const audit = (api: ReturnType<typeof apiClient>, query = "") => api.get(`/audit?per_page=200${query}`, { schema: AuditPage, status: 200 });
const auditOf = async (api: ReturnType<typeof apiClient>, query = "") => (await audit(api, query)).body.items.map(({ action }) => action);

test("the audit log tells who changed what and how, newest first", async ({ api, person, workflow }) => {
  const { id, name } = await workflow({ name: "Watched" });
  await api.put(`/workflows/${id}`, { description: "New" }, { status: 200 });
  const { body } = await audit(api);
  expect(body.items[0]).toMatchObject({
    actor: { id: person.id, email: person.email },
    via: "platform_key",
    action: "workflow.update",
    resource_type: "workflow",
    resource_id: id,
    resource_name: name,
    detail: { version: 2 },
  });
  expect(body.items.map(({ action }) => action)).toEqual(["workflow.update", "workflow.create", "platform_key.create", "project.create"]);
  expect(body.items.find(({ action }) => action === "platform_key.create")?.via).toBe("session");
});

test("it is read by admins only, of their own project only", async ({ newUser, newProject, workflow }) => {
  await workflow({ name: "Mine" });
  for (const role of ["viewer", "editor"] as const) {
    const { api } = await newUser({ role });
    await api.get("/audit", { status: 403 });
  }
  const second = await newUser({ role: "admin" });
  expect(await auditOf(second.api)).toContain("workflow.create");
  const other = await newProject();
  expect(await auditOf(other.api)).not.toContain("workflow.create");
});

test("it is filtered by who, what, which and when, and paged", async ({ api, person, newUser, workflow }) => {
  const first = await workflow({ name: "First" });
  await workflow({ name: "Second" });
  const editor = await newUser({ role: "editor" });
  await editor.api.put(`/workflows/${first.id}`, { description: "By the editor" }, { status: 200 });
  expect(await auditOf(api, `&actor=${editor.id}`)).toEqual(["workflow.update", "member.join"]);
  expect(await auditOf(api, `&resource_id=${first.id}`)).toEqual(["workflow.update", "workflow.create"]);
  expect(await auditOf(api, "&action=workflow.create")).toEqual(["workflow.create", "workflow.create"]);
  expect(await auditOf(api, `&resource_type=workflow&actor=${person.id}`)).toEqual(["workflow.create", "workflow.create"]);
  const all = (await audit(api)).body;
  const middle = all.items[2]?.created_at ?? "";
  const since = (await audit(api, `&from=${middle}`)).body.items;
  const before = (await audit(api, `&to=${middle}`)).body.items;
  expect([...since, ...before]).toEqual(all.items);
  expect(since.every((entry) => entry.created_at >= middle)).toBe(true);
  const page = (await api.get("/audit?per_page=2&page=2", { schema: AuditPage })).body;
  expect(page).toEqual({ items: all.items.slice(2, 4), total: all.total, page: 2, per_page: 2 });
  for (const nothing of [
    `&actor=${randomUUID()}`,
    "&actor=nonsense",
    "&action=no.such",
    "&resource_id=nonsense",
    "&to=2020-01-01T00:00:00Z",
  ])
    expect(await auditOf(api, nothing)).toEqual([]);
  for (const wrong of ["from=yesterday", "resource_type=tree", "colour=red", "per_page=201"])
    await api.get(`/audit?${wrong}`, { status: 422 });
});

test("retention is a setting of the project, for its admins", async ({ api, person, newUser }) => {
  const path = `/projects/${person.project.id}`;
  expect((await api.get(path)).body.retention_days).toBeNull();
  for (const days of [0, 3651, 1.5, "30"]) await api.put(path, { retention_days: days }, { status: 422 });
  expect((await api.put(path, { retention_days: 30 }, { status: 200 })).body.retention_days).toBe(30);
  const editor = await newUser({ role: "editor" });
  await editor.api.put(path, { retention_days: 1 }, { status: 403 });
  expect((await editor.api.get(path)).body.retention_days).toBe(30);
  expect((await api.put(path, { retention_days: null }, { status: 200 })).body.retention_days).toBeNull();
});

test("who is removed, or whose project is deleted, gets 404 with the next request, by a key that goes on for the rest", async ({
  api,
  person,
  newUser,
}) => {
  const [first, second] = [await newUser({ role: "editor" }), await newUser({ role: "viewer" })];
  await first.api.get("/workflows", { status: 200 });
  await api.del(`/projects/${person.project.id}/members?user_id=${first.id}`, { status: 204 });
  await first.api.get("/workflows", { status: 404 });
  await api.del(`/projects/${person.project.id}`, { status: 204 });
  await second.api.get("/workflows", { status: 404 });
  await api.get(`/projects/${person.project.id}`, { status: 404 });
  // The last project is gone; the account is not.
  expect((await api.get("/users/me", { status: 200 })).body.projects).toEqual([]);
  expect((await api.get("/workflows", { status: 404 })).body.error_code).toBe("NOT_FOUND");
});

test("deleting an account names what stands in the way, and ends its keys", async ({ api, person, newUser }) => {
  const { password, project } = person;
  await api.del("/users/me", { status: 422 });
  await api.del("/users/me", { body: { password: "wrong" }, status: 422 });
  const alone = await api.del("/users/me", { body: { password }, status: 409 });
  expect(alone.body).toMatchObject({ error_code: "CONFLICT", detail: expect.stringContaining(project.name) });
  const editor = await newUser({ role: "editor" });
  const last = await api.del("/users/me", { body: { password, delete_projects: true }, status: 409 });
  expect(last.body.detail).toContain("last admin");
  await api.post(`/projects/${project.id}/members`, { email: editor.email, role: "admin" }, { status: 201 });
  await api.del("/users/me", { body: { password }, status: 204 });
  await api.get("/auth/me", { status: 401 });
  expect((await person.browser.get("/api/v1/auth/me")).status()).toBe(401);
  expect((await auditOf(editor.api))[0]).toBe("member.leave");
});

test("deleting a project stops the model calls under way, and its webhook answers 401", async ({
  api,
  person,
  newUser,
  agent,
  workflow,
  modelServer,
  baseURL,
  execute,
}) => {
  const mark = randomUUID();
  const slow = await agent({ model: "slow-200-1000" });
  const flow = await workflow(graphOf({ t: ["trigger"], a: ["agent", { agent_id: slow.id, retries: 0 }] }, ["t>a"]));
  const hook = await workflow(graphOf({ t: ["trigger", { kind: "webhook" }], o: ["output"] }, ["t>o"]));
  const { webhook_secret } = (await api.post(`/webhooks/setup/${hook.id}`, {}, { schema: WebhookSetup, status: 200 })).body;
  const call = async () => {
    const signature = createHmac("sha256", webhook_secret).update("{}").digest("hex");
    const headers = { "content-type": "application/json", "x-service-signature": `sha256=${signature}` };
    return (await fetch(`${baseURL}/api/v1/webhooks/${hook.id}`, { method: "POST", body: "{}", headers })).status;
  };
  expect(await call()).toBe(202);
  const viewer = await newUser({ role: "viewer" });
  await execute(flow, { input: mark });
  await until(async () => (await modelServer.calls({ contains: mark })).length === 1);
  await api.del(`/projects/${person.project.id}`, { status: 204 });
  await until(async () => (await modelServer.calls({ contains: mark })).every(({ outcome }) => outcome === "aborted"), 5000);
  expect(await call()).toBe(401);
  await viewer.api.get("/executions", { status: 404 });
});

test("deleting a workflow cancels its runs with the calls that its agents make", async ({
  api,
  agent,
  workflow,
  llmKey,
  modelServer,
  execute,
}) => {
  const mark = randomUUID();
  const used = await agent({ model: `gate-${randomUUID()}` });
  const flow = await workflow({ name: "Uses it", ...graphOf({ t: ["trigger"], a: ["agent", { agent_id: used.id }] }, ["t>a"]) });
  expect((await api.del(`/agents/${used.id}`, { status: 409 })).body.detail).toContain('"Uses it"');
  expect((await api.del(`/llm-keys/${(await llmKey()).id}`, { status: 409 })).body.detail).toContain(`"${used.name}"`);
  const execution_id = await execute(flow, { input: mark });
  await until(async () => (await modelServer.calls({ contains: mark })).length === 1);

  await api.del(`/workflows/${flow.id}`, { status: 204 });

  await api.get(`/workflows/${flow.id}`, { status: 404 });
  const { body: run } = await api.get(`/executions/${execution_id}`, { schema: Execution });
  expect(run).toMatchObject({ status: "cancelled", workflow_name: "Uses it" });
  expect((await api.get(`/executions?workflow_id=${flow.id}`, { status: 200 })).body.items).toMatchObject([{ workflow_name: "Uses it" }]);
  await until(async () => (await modelServer.calls({ contains: mark })).every(({ outcome }) => outcome === "aborted"), 5000);
  await api.post(`/executions/${execution_id}/rerun`, {}, { status: 409 });
  await api.del(`/agents/${used.id}`, { status: 204 });
});

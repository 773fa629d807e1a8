import type { APIRequestContext } from "@playwright/test";
import { newHost, newProject, newUser, type Project } from "#e2e/api/people.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { LlmKey, LlmKeyPage, ModelList, ProviderList } from "#server/features/llm-keys/schema.ts";
import { providerIds } from "#server/llm/kinds.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

let models: ModelServer;
let host: APIRequestContext;
test.beforeAll(async () => {
  models = await startModelServer();
  ({ api: host } = await newHost());
});
test.afterAll(() => models.stop());

/** An empty project with an admin who is in no other. */
async function newAdmin(): Promise<{ api: APIRequestContext; project: Project }> {
  const project = await newProject(host);
  return { api: (await newUser(host, project, "admin")).api, project };
}

const SECRET = "test-key-0123456789abcdef";
const local = (more: object = {}) => ({ name: "Main", provider: "openai_compatible", api_key: SECRET, base_url: models.url, ...more });

async function addKey(api: APIRequestContext, more: object = {}): Promise<LlmKey> {
  const answer = await api.post("/api/v1/llm-keys", { data: local(more) });
  expect(answer.status()).toBe(201);
  return LlmKey.parse(await answer.json());
}

async function refused(api: APIRequestContext, data: object, status: number): Promise<ErrorBody> {
  const answer = await api.post("/api/v1/llm-keys", { data });
  expect(answer.status()).toBe(status);
  return ErrorBody.parse(await answer.json());
}

test("the registry names the seven kinds of the specification and what their forms need", async () => {
  const { items } = ProviderList.parse(await (await host.get("/api/v1/llm-providers")).json());
  const specified = [
    ["anthropic", false, true],
    ["openai", false, true],
    ["gemini", false, true],
    ["mistral", false, true],
    ["huggingface", false, false],
    ["azure", true, true],
    ["openai_compatible", true, true],
  ];
  const listed = items.map(({ id, requires_base_url, supports_tools }) => [id, requires_base_url, supports_tools]);
  expect(listed.filter(([id]) => specified.some(([known]) => known === id))).toEqual(specified);
  // All of them, in the order of their table, which may have more.
  expect(items.map(({ id }) => id)).toEqual(providerIds);
});

test("a key is added, listed masked, and deleted; its value never comes back", async () => {
  const { api } = await newAdmin();
  const key = await addKey(api);
  expect(key).toMatchObject({ name: "Main", provider: "openai_compatible", base_url: models.url, api_version: null });
  const list = await (await api.get("/api/v1/llm-keys")).text();
  expect(LlmKeyPage.parse(JSON.parse(list))).toEqual({ items: [key], total: 1, page: 1, per_page: 50 });
  expect(list).not.toContain(SECRET);
  expect(key.masked_key).not.toContain(SECRET.slice(4, -4));
  const gone = await api.delete(`/api/v1/llm-keys/${key.id}`);
  expect([gone.status(), await gone.text()]).toEqual([204, ""]);
  expect((await api.delete(`/api/v1/llm-keys/${key.id}`)).status()).toBe(404);
});

test("models come live with a key that works, and from a curated list with one that does not", async () => {
  const { api } = await newAdmin();
  const good = await addKey(api);
  const live = ModelList.parse(await (await api.get(`/api/v1/llm-keys/${good.id}/models`)).json());
  expect(live.source).toBe("live");
  expect(live.models).toContainEqual({ id: "parrot" });
  const bad = await addKey(api, { name: "Wrong", provider: "openai", api_key: "wrong-key" });
  const curated = ModelList.parse(await (await api.get(`/api/v1/llm-keys/${bad.id}/models`)).json());
  expect(curated.source).toBe("curated");
  expect(curated.models.length).toBeGreaterThan(0);
});

for (const { what, data, path, says } of [
  {
    what: "no base URL where one is needed",
    data: { provider: "azure", base_url: undefined },
    path: "base_url",
    says: "needs the base URL",
  },
  {
    what: "the address of a single deployment",
    data: { provider: "azure", base_url: "https://r.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21" },
    path: "base_url",
    says: "single deployment",
  },
  {
    what: "a vendor's key without its prefix",
    data: { provider: "anthropic", base_url: undefined },
    path: "api_key",
    says: "starts with sk-ant-",
  },
  { what: "an address that is none", data: { base_url: "ftp://models" }, path: "base_url", says: "" },
  { what: "a provider that does not exist", data: { provider: "acme" }, path: "provider", says: "" },
  { what: "a field that does not exist", data: { nmae: "x" }, path: "nmae", says: "no such field" },
]) {
  test(`${what} is refused with the field`, async () => {
    const { api } = await newAdmin();
    const body = await refused(api, local(data), 422);
    expect(body.error_code).toBe("VALIDATION_ERROR");
    expect(body.errors).toEqual([{ path, message: expect.stringContaining(says) }]);
    expect((await (await api.get("/api/v1/llm-keys")).json()).total).toBe(0);
  });
}

test("a name is used once in a project, and free in another", async () => {
  const [first, second] = [await newAdmin(), await newAdmin()];
  await addKey(first.api);
  expect((await refused(first.api, local(), 409)).error_code).toBe("CONFLICT");
  await addKey(second.api);
});

test("viewers and editors see keys and models; only admins add and delete", async () => {
  const { api, project } = await newAdmin();
  const key = await addKey(api);
  for (const role of ["viewer", "editor"] as const) {
    const { api: member } = await newUser(host, project, role);
    expect((await member.get("/api/v1/llm-keys")).status()).toBe(200);
    expect((await member.get(`/api/v1/llm-keys/${key.id}/models`)).status()).toBe(200);
    expect((await refused(member, local({ name: "Other" }), 403)).error_code).toBe("PERMISSION_DENIED");
    expect((await member.delete(`/api/v1/llm-keys/${key.id}`)).status()).toBe(403);
  }
});

test("a key of another project answers like one that never existed", async () => {
  const [first, second] = [await newAdmin(), await newAdmin()];
  const key = await addKey(first.api);
  for (const id of [key.id, "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", "no-uuid"]) {
    const answers = [await second.api.get(`/api/v1/llm-keys/${id}/models`), await second.api.delete(`/api/v1/llm-keys/${id}`)];
    for (const answer of answers)
      expect(await answer.json()).toEqual({ detail: "There is no such LLM key in this project.", error_code: "NOT_FOUND", status: 404 });
  }
});

test("a key in use is not deleted; the refusal names the agent", async () => {
  const { api } = await newAdmin();
  const key = await addKey(api);
  const agent = await api.post("/api/v1/agents", { data: { name: "Scout", model: "echo", llm_key_id: key.id } });
  expect(agent.status()).toBe(201);
  const answer = await api.delete(`/api/v1/llm-keys/${key.id}`);
  expect([answer.status(), (await answer.json()).detail]).toEqual([409, expect.stringContaining('"Scout"')]);
});

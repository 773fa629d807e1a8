import type { APIRequestContext, APIResponse } from "@playwright/test";
import type { z } from "zod";
import { newHost, newProject, newUser, type Project } from "#e2e/api/people.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Agent, AgentPage, AgentReply } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

let models: ModelServer;
let host: APIRequestContext;
test.beforeAll(async () => {
  models = await startModelServer();
  ({ api: host } = await newHost());
});
test.afterAll(() => models.stop());
test.beforeEach(() => models.reset());

async function read<Schema extends z.ZodType>(answer: APIResponse, status: number, schema: Schema): Promise<z.infer<Schema>> {
  const text = await answer.text();
  expect(answer.status(), text).toBe(status);
  return schema.parse(JSON.parse(text));
}

async function addKey(api: APIRequestContext, more: object = {}): Promise<LlmKey> {
  const data = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url, ...more };
  return read(await api.post("/api/v1/llm-keys", { data }), 201, LlmKey);
}

/** An empty project but for one key, with an admin who is in no other. */
async function newAdmin(): Promise<{ api: APIRequestContext; project: Project; key: LlmKey }> {
  const project = await newProject(host);
  const { api } = await newUser(host, project, "admin");
  return { api, project, key: await addKey(api) };
}

const body = (llm_key_id: string, more: object = {}) => ({ name: "Scout", model: "echo", llm_key_id, ...more });
const post = (api: APIRequestContext, data: object) => api.post("/api/v1/agents", { data });
const put = (api: APIRequestContext, id: string, data: object) => api.put(`/api/v1/agents/${id}`, { data });
const addAgent = async (api: APIRequestContext, data: object) => read(await post(api, data), 201, Agent);

test("an agent is created with its defaults, read, listed, changed in part, and deleted", async () => {
  const { api, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id));
  expect(agent).toMatchObject({
    name: "Scout",
    description: "",
    system_prompt: "",
    temperature: null,
    max_tokens: null,
    tools: [],
    mcp_server_ids: [],
    rag_ids: [],
    skill_ids: [],
    output_schema: null,
  });
  expect(await read(await api.get(`/api/v1/agents/${agent.id}`), 200, Agent)).toEqual(agent);
  expect(await read(await api.get("/api/v1/agents"), 200, AgentPage)).toEqual({ items: [agent], total: 1, page: 1, per_page: 50 });
  const changed = await read(await put(api, agent.id, { system_prompt: "Be brief.", max_tokens: 200 }), 200, Agent);
  expect(changed).toEqual({ ...agent, system_prompt: "Be brief.", max_tokens: 200, version: 2, updated_at: changed.updated_at });
  expect(changed.updated_at > agent.updated_at).toBe(true);
  expect((await api.delete(`/api/v1/agents/${agent.id}`)).status()).toBe(204);
  expect((await api.get(`/api/v1/agents/${agent.id}`)).status()).toBe(404);
});

test("what a GET gave can be sent back; an unknown field cannot", async () => {
  const { api, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id, { description: "Finds things", temperature: 0.3 }));
  const again = await read(await put(api, agent.id, agent), 200, Agent);
  expect({ ...again, updated_at: agent.updated_at }).toEqual(agent);
  const error = await read(await put(api, agent.id, { temprature: 1 }), 422, ErrorBody);
  expect(error.errors).toMatchObject([{ path: "temprature" }]);
});

test("saving makes one tiny live call", async () => {
  const { api, key } = await newAdmin();
  await addAgent(api, body(key.id));
  expect(models.calls().map(({ model, message, probe }) => ({ model, message, probe }))).toEqual([
    { model: "echo", message: "Reply with OK.", probe: true },
  ]);
});

test("a model that the key cannot call shows at save, with the provider's words, and nothing is saved", async () => {
  const { api, key } = await newAdmin();
  const error = await read(await post(api, body(key.id, { model: "status-404" })), 502, ErrorBody);
  expect(error).toMatchObject({ error_code: "UPSTREAM_ERROR", status: 502 });
  expect(error.detail).toContain("OpenAI-compatible answered 404: The model does not exist or you do not have access to it.");
  expect(await read(await api.get("/api/v1/agents"), 200, AgentPage)).toMatchObject({ total: 0 });
});

test("a key that the provider refuses shows at save, and never in the error", async () => {
  const { api } = await newAdmin();
  const wrong = await addKey(api, { name: "Wrong", api_key: "wrong-key" });
  const error = await read(await post(api, body(wrong.id)), 502, ErrorBody);
  expect(error.detail).toMatch(/^OpenAI-compatible answered 401: Incorrect API key provided.* Check the LLM key "Wrong"/);
  expect(error.detail).not.toContain("wrong-key");
});

test("a refused change leaves the agent as it was", async () => {
  const { api, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id));
  await read(await put(api, agent.id, { name: "Other", model: "status-500" }), 502, ErrorBody);
  expect(await read(await api.get(`/api/v1/agents/${agent.id}`), 200, Agent)).toEqual(agent);
});

test("a test answers with text, model, provider and tokens", async () => {
  const { api, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id, { system_prompt: "Be brief." }));
  const answer = await api.post(`/api/v1/agents/${agent.id}/test`, { data: { message: "hello there" } });
  expect(await read(answer, 200, AgentReply)).toEqual({
    response: "Echo: hello there",
    model: "echo",
    provider: "openai_compatible",
    input_tokens: 4,
    output_tokens: 3,
    cost: null,
    tool_calls: [],
    agent_version: 1,
  });
});

test("a test whose call fails is a 502 with the provider's words", async () => {
  const { api, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id, { model: "late-status-401" }));
  const error = await read(await api.post(`/api/v1/agents/${agent.id}/test`, { data: { message: "hi" } }), 502, ErrorBody);
  expect(error).toMatchObject({ error_code: "UPSTREAM_ERROR", detail: expect.stringContaining("Incorrect API key provided.") });
});

for (const [path, data] of Object.entries({
  "mcp_server_ids.0": { mcp_server_ids: ["019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10"] },
  "rag_ids.0": { rag_ids: ["019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10"] },
  "skill_ids.0": { skill_ids: ["no-uuid"] },
  output_schema: { output_schema: { type: "nonsense" } },
  llm_key_id: { llm_key_id: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" },
  temperature: { temperature: 3 },
  name: { name: "  " },
})) {
  test(`${path} that cannot be is refused with the field, at creation and change`, async () => {
    const { api, key } = await newAdmin();
    const agent = await addAgent(api, body(key.id));
    models.reset();
    for (const answer of [await post(api, body(key.id, { name: "Other", ...data })), await put(api, agent.id, data)]) {
      const error = await read(answer, 422, ErrorBody);
      expect(error.errors?.map((one) => one.path)).toEqual([path]);
    }
    expect(models.calls(), "no live call for what is refused anyway").toEqual([]);
  });
}

test("tools on a kind that cannot call them are refused, one field each", async () => {
  const { api } = await newAdmin();
  const hub = await addKey(api, { name: "Hub", provider: "huggingface", api_key: "hf_0123456789" });
  const rag = await (await api.post("/api/v1/rags", { data: { name: "Handbook", type: "documents" } })).json();
  models.reset();
  const error = await read(await post(api, body(hub.id, { tools: ["web_search"], rag_ids: [rag.id] })), 422, ErrorBody);
  expect(error.errors?.map(({ path }) => path)).toEqual(["tools", "rag_ids"]);
  expect(error.detail).toContain("Models of Hugging Face cannot call tools.");
  expect(models.calls()).toEqual([]);
});

test("at save, each of what can be wrong with a model has its own sentence", async () => {
  const { api, key } = await newAdmin();
  const wrong = await addKey(api, { name: "Wrong", api_key: "wrong-key" });
  const away = await addKey(api, { name: "Away", base_url: "http://127.0.0.1:9/v1" });
  const cases: [object, string][] = [
    [body(wrong.id), 'Check the LLM key "Wrong" (model echo).'],
    [
      body(key.id, { model: "status-404" }),
      'Check the model status-404: choose one that is listed for the LLM key "Main", or correct the id.',
    ],
    [body(key.id, { model: "no-tools", tools: ["web_scraper"] }), "The model no-tools cannot call tools"],
    [body(away.id), 'does not accept connections at 127.0.0.1:9. Check the base URL of the LLM key "Away"'],
  ];
  for (const [data, sentence] of cases) expect((await read(await post(api, data), 502, ErrorBody)).detail).toContain(sentence);
  await addAgent(api, body(key.id, { model: "no-tools" }));
});

test("an agent keeps its tools, knowledge, skills and schema, and a source in use stays", async () => {
  const { api, key } = await newAdmin();
  const rag = await (await api.post("/api/v1/rags", { data: { name: "Handbook", type: "documents" } })).json();
  const skills = await (await api.get("/api/v1/skills")).json();
  const more = {
    tools: ["web_search", "web_scraper"],
    rag_ids: [rag.id],
    skill_ids: [skills.items[0].id],
    output_schema: { type: "object", properties: { city: { type: "string" } } },
  };
  const agent = await addAgent(api, body(key.id, more));
  expect(agent).toMatchObject(more);
  const again = await read(await put(api, agent.id, agent), 200, Agent);
  expect({ ...again, updated_at: agent.updated_at }).toEqual(agent);
  const inUse = await read(await api.delete(`/api/v1/rags/${rag.id}`), 409, ErrorBody);
  expect(inUse.detail).toContain('"Scout"');
  await read(await put(api, agent.id, { rag_ids: [] }), 200, Agent);
  expect((await api.delete(`/api/v1/rags/${rag.id}`)).status()).toBe(204);
});

test("a schema may name properties and values as it likes", async () => {
  const { api, key } = await newAdmin();
  const named = '{"properties":{"__proto__":{"type":"string"},"$type":{"type":"string"}},"enum":[{"__proto__":null},{"$type":""}]}';
  const agent = await addAgent(api, body(key.id, { output_schema: JSON.parse(named) }));
  const { output_schema } = await (await api.get(`/api/v1/agents/${agent.id}`)).json();
  expect(JSON.stringify(output_schema.enum)).toBe('[{"__proto__":null},{"$type":""}]');
  expect(Object.keys(output_schema.properties).sort()).toEqual(["$type", "__proto__"]);
});

test("a name is used once in a project", async () => {
  const { api, key } = await newAdmin();
  await addAgent(api, body(key.id));
  const other = await addAgent(api, body(key.id, { name: "Other" }));
  for (const answer of [await post(api, body(key.id)), await put(api, other.id, { name: "Scout" })])
    expect(await read(answer, 409, ErrorBody)).toMatchObject({ error_code: "CONFLICT", detail: expect.stringContaining('"Scout"') });
});

test("viewers read agents and cannot change, delete or test them", async () => {
  const { api, project, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id));
  const { api: viewer } = await newUser(host, project, "viewer");
  expect((await viewer.get(`/api/v1/agents/${agent.id}`)).status()).toBe(200);
  for (const answer of [
    await post(viewer, body(key.id, { name: "Other" })),
    await put(viewer, agent.id, { name: "Other" }),
    await viewer.delete(`/api/v1/agents/${agent.id}`),
    await viewer.post(`/api/v1/agents/${agent.id}/test`, { data: { message: "hi" } }),
  ])
    expect(await read(answer, 403, ErrorBody)).toMatchObject({ error_code: "PERMISSION_DENIED" });
});

test("another project's agents and keys do not exist", async () => {
  const [first, second] = [await newAdmin(), await newAdmin()];
  const agent = await addAgent(first.api, body(first.key.id));
  for (const id of [agent.id, "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", "no-uuid"]) {
    for (const answer of [
      await second.api.get(`/api/v1/agents/${id}`),
      await put(second.api, id, { name: "Mine" }),
      await second.api.delete(`/api/v1/agents/${id}`),
      await second.api.post(`/api/v1/agents/${id}/test`, { data: { message: "hi" } }),
    ])
      expect(await read(answer, 404, ErrorBody)).toEqual({
        detail: "There is no such agent in this project.",
        error_code: "NOT_FOUND",
        status: 404,
      });
  }
  const error = await read(await post(second.api, body(first.key.id)), 422, ErrorBody);
  expect(error.errors?.map(({ path }) => path)).toEqual(["llm_key_id"]);
});

test("an agent in a workflow is not deleted; the refusal names the workflow", async () => {
  const { api, key } = await newAdmin();
  const agent = await addAgent(api, body(key.id));
  const position = { x: 0, y: 0 };
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id: agent.id } },
  ];
  const workflow = await api.post("/api/v1/workflows", { data: { name: "Digest", nodes, edges: [{ id: "e", source: "t", target: "a" }] } });
  expect(workflow.status()).toBe(201);
  const error = await read(await api.delete(`/api/v1/agents/${agent.id}`), 409, ErrorBody);
  expect(error.detail).toContain('"Digest"');
  await api.delete(`/api/v1/workflows/${(await workflow.json()).id}`);
  expect((await api.delete(`/api/v1/agents/${agent.id}`)).status()).toBe(204);
});

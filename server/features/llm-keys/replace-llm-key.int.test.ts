import { expect, test } from "vitest";
import { WRONG_KEY } from "#e2e/fakes/model-server.ts";
import { runAgentCall } from "#server/features/agents/run-agent-call.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { createLlmKey, listModels, updateLlmKey } from "#server/features/llm-keys/service.ts";
import { endpointOf } from "#server/features/llm-keys/stored-key.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();

const mainKey = (admin: ProjectPrincipal) =>
  createLlmKey(admin, { name: "Main", provider: "openai_compatible", api_key: "old-key-0123456789", base_url: models.url });
const keyOf = async (id: string) => endpointOf(await db().llmKey.findUniqueOrThrow({ where: { id } })).apiKey;

test("a key gets a new value, and the agents that use it go on with it", async () => {
  const admin = await database.newAdmin();
  const key = await mainKey(admin);
  const agent = await createAgent(admin, { name: "Scout", model: "parrot", llm_key_id: key.id, tools: ["web_search"] });
  models.reset();
  const replaced = await updateLlmKey(admin, { key_id: key.id, api_key: "new-key-9876543210" });
  expect(replaced).toEqual({ ...key, masked_key: "new••••3210" });
  expect(await keyOf(key.id)).toBe("new-key-9876543210");
  expect(models.calls().map(({ model, probe, request }) => [model, probe, request.tools?.length])).toEqual([["parrot", true, 1]]);
  const call = { project_id: admin.project.id, agent_id: agent.id, message: "hello", timeoutMs: 20_000, retries: 0 };
  expect((await runAgentCall(call)).text).toBe("hello");
  const entry = await db().auditEntry.findFirstOrThrow({ where: { resource_id: key.id }, orderBy: { id: "desc" } });
  expect([entry.action, entry.detail]).toEqual(["llm_key.update", { changed: ["api_key"] }]);
});

test("a new value that the vendor takes is kept, although the agent that was changed last asks for what there is not", async () => {
  const admin = await database.newAdmin();
  const key = await mainKey(admin);
  const agent = await createAgent(admin, { name: "Scout", model: "echo", llm_key_id: key.id });
  await db().agent.update({ where: { id: agent.id }, data: { model: "status-404" } });
  await updateLlmKey(admin, { key_id: key.id, api_key: "new-key-9876543210" });
  expect(await keyOf(key.id)).toBe("new-key-9876543210");
});

test("a new value that does not work, or cannot, changes nothing", async () => {
  const admin = await database.newAdmin();
  const key = await mainKey(admin);
  await createAgent(admin, { name: "Scout", model: "echo", llm_key_id: key.id });
  await expect(updateLlmKey(admin, { key_id: key.id, api_key: WRONG_KEY, name: "Other" })).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringContaining("answered 401"),
  });
  await expect(updateLlmKey(admin, { key_id: key.id, api_key: "two words" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "api_key", message: expect.stringContaining("holds a blank") }],
  });
  expect(await db().llmKey.findUnique({ where: { id: key.id } })).toMatchObject({ name: "Main", masked_key: key.masked_key });
  expect(await keyOf(key.id)).toBe("old-key-0123456789");
  const vendor = await createLlmKey(admin, { name: "Vendor", provider: "anthropic", api_key: "sk-ant-0123456789" });
  await expect(updateLlmKey(admin, { key_id: vendor.id, api_key: "sk-proj-0123456789" })).rejects.toMatchObject({
    errors: [{ path: "api_key", message: expect.stringContaining("starts with sk-ant-") }],
  });
  // Nobody uses it, so there is nothing to try it with.
  models.reset();
  await updateLlmKey(admin, { key_id: vendor.id, api_key: "sk-ant-9876543210" });
  expect(models.calls()).toEqual([]);
});

test("a key that is to be verified is stored only when the provider takes it; without that nobody is called", async () => {
  const admin = await database.newAdmin();
  const add = (api_key: string, verify?: boolean) =>
    createLlmKey(admin, {
      name: `Key ${api_key}`,
      provider: "openai_compatible",
      api_key,
      base_url: models.url,
      ...(verify !== undefined && { verify }),
    });
  await expect(add(WRONG_KEY, true)).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: "This key was refused by OpenAI-compatible (401): Incorrect API key provided: wron****-key.",
  });
  expect(await db().llmKey.count({ where: { project_id: admin.project.id } })).toBe(0);
  const wrong = await add(WRONG_KEY);
  expect(await listModels(admin, { key_id: wrong.id })).toEqual({
    source: "curated",
    models: [],
    problem: {
      detail: "This key was refused by OpenAI-compatible (401): Incorrect API key provided: wron****-key.",
      is_key_refused: true,
    },
  });
  const right = await add("test-key-0123456789", true);
  expect(await listModels(admin, { key_id: right.id })).toMatchObject({ source: "live", problem: null });

  // A new value of a key that no agent uses is tried only if that is asked for; of one that is used, unless it is not.
  await expect(updateLlmKey(admin, { key_id: right.id, api_key: WRONG_KEY, verify: true })).rejects.toThrow("This key was refused by");
  await createAgent(admin, { name: "Scout", model: "echo", llm_key_id: right.id });
  await expect(updateLlmKey(admin, { key_id: right.id, api_key: WRONG_KEY })).rejects.toThrow("answered 401");
  await updateLlmKey(admin, { key_id: right.id, api_key: WRONG_KEY, verify: false });
  expect(await keyOf(right.id)).toBe(WRONG_KEY);
});

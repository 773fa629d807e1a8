import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { testAgent, tryAgent } from "#server/features/agents/chat.ts";
import type { ChatEvent, UpdatedAgent } from "#server/features/agents/schema.ts";
import {
  createAgent,
  deleteAgent,
  getAgent,
  listAgentWorkflows,
  restoreAgentVersion,
  updateAgent,
} from "#server/features/agents/service.ts";
import { getAgentVersion, listAgentVersions } from "#server/features/agents/versions.ts";
import { createCredential } from "#server/features/credentials/service.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { createSkill } from "#server/features/skills/service.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { addMember } from "#server/testing/add-member.ts";
import { agentChain, runChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();
const { signal } = new AbortController();
const all = { page: 1, per_page: 50 };

async function world(more: object = {}) {
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const agent = await createAgent(admin, { name: "Scout", model: "echo", llm_key_id, system_prompt: "Be brief.", ...more });
  const change = (input: object, by: ProjectPrincipal = admin) => updateAgent(by, { agent_id: agent.id, ...input });
  const versions = () => listAgentVersions(admin, { agent_id: agent.id, ...all });
  return { admin, agent, llm_key_id, agent_id: agent.id, change, versions };
}

const configOf = ({ id: _, version: __, created_at: ___, updated_at: ____, workflows_changed: _____, ...config }: Partial<UpdatedAgent>) =>
  config;

test("each save that changes something is a version, with who made it, what it changed and all of the agent as it was", async () => {
  const { admin, agent, agent_id, change, versions } = await world();
  const { id: skill_id } = await createSkill(admin, { name: "Rhyme", description: "", prompt: "Rhyme.", model: "" });
  expect(agent.version).toBe(1);
  const second = await change({ system_prompt: "Be kind.", skill_ids: [skill_id], output_schema: { type: "object" } });
  expect(await change({ system_prompt: "Be kind." })).toEqual(second);
  const editor = await database.newAdmin();
  await addMember(admin, editor.user, "editor");
  await change({ name: "Ranger" }, { ...admin, user: editor.user, role: "editor" });
  const { items, total } = await versions();
  const of = (principal: ProjectPrincipal) => ({ id: principal.user.id });
  expect(total).toBe(3);
  expect(items).toMatchObject([
    { version: 3, is_current: true, changed: ["name"], saved_by: of(editor), restored_from: null },
    { version: 2, is_current: false, changed: ["system_prompt", "output_schema", "skill_ids"], saved_by: of(admin) },
    { version: 1, is_current: false, changed: [], saved_by: of(admin) },
  ]);
  const read = (version: number) => getAgentVersion(admin, { agent_id, version });
  expect((await read(1)).config).toEqual(configOf(agent));
  expect((await read(2)).config).toEqual(configOf(second));
  expect((await listAgentVersions(admin, { agent_id, page: 2, per_page: 2 })).items.map(({ version }) => version)).toEqual([1]);
  await expect(read(4)).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("has no version 4") });
  const stranger = await database.newAdmin();
  for (const call of [
    () => listAgentVersions(stranger, { agent_id, ...all }),
    () => getAgentVersion(stranger, { agent_id, version: 1 }),
    () => restoreAgentVersion(stranger, { agent_id, version: 1 }),
    () => listAgentWorkflows(stranger, { agent_id, ...all }),
  ])
    await expect(call()).rejects.toMatchObject({ code: "NOT_FOUND", message: "There is no such agent in this project." });
});

test("a change of an old version is refused with who saved, also when both come at once; without a version it overwrites", async () => {
  const { admin, change } = await world();
  await change({ system_prompt: "Be kind.", version: 1 });
  const { name } = await db().user.findUniqueOrThrow({ where: { id: admin.user.id } });
  await expect(change({ model: "parrot", version: 1 })).rejects.toMatchObject({
    code: "CONFLICT",
    message: `${name} saved this agent after you loaded it (changed: system_prompt). Load it again, or leave version out to write over that.`,
    errors: [{ path: "version" }],
  });
  expect(await change({ model: "parrot" })).toMatchObject({ version: 3, model: "parrot", system_prompt: "Be kind." });
  const ends = await Promise.allSettled(["One", "Two"].map((description) => change({ description, version: 3 })));
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  // Two that overwrite are two versions, and the later one has both changes.
  await Promise.all([change({ description: "Three" }), change({ max_tokens: 50 })]);
  expect(await getAgentVersion(admin, { agent_id: (await change({})).id, version: 6 })).toMatchObject({
    is_current: true,
    config: { description: "Three", max_tokens: 50 },
  });
});

test("a restored version is the next one, with all but the name; what is gone or does not work changes nothing", async () => {
  const { admin, agent, agent_id, llm_key_id, change } = await world({ tools: ["web_search"] });
  await change({ name: "Ranger", system_prompt: "Be kind.", model: "parrot", tools: [] });
  models.reset();
  const restored = await restoreAgentVersion(admin, { agent_id, version: 1 });
  expect(configOf(restored)).toEqual({ ...configOf(agent), name: "Ranger" });
  expect(restored.version).toBe(3);
  // Its model is asked first, as when it is saved.
  expect(models.calls().map(({ model, probe }) => [model, probe])).toEqual([["echo", true]]);
  expect((await listAgentVersions(admin, { agent_id, ...all })).items[0]).toMatchObject({
    restored_from: 1,
    changed: ["model", "system_prompt", "tools"],
  });
  const entry = await db().auditEntry.findFirstOrThrow({ where: { resource_id: agent_id }, orderBy: { id: "desc" } });
  expect([entry.action, entry.detail]).toEqual(["agent.restore", { changed: ["model", "system_prompt", "tools"], restored_from: 1 }]);
  const { id: other } = await createLlmKey(admin, { name: "Other", provider: "openai_compatible", api_key: "k", base_url: models.url });
  await change({ llm_key_id: other });
  await db().llmKey.delete({ where: { id: llm_key_id } });
  await expect(restoreAgentVersion(admin, { agent_id, version: 1 })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "llm_key_id" }],
  });
  await expect(restoreAgentVersion(admin, { agent_id, version: 9 })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await getAgent(admin, { agent_id })).version).toBe(4);
});

test("the newest 100 versions are kept, and older ones that a run names, 500 in all", async () => {
  const { agent_id, change } = await world();
  const now = new Date();
  const { config } = await db().agentVersion.findUniqueOrThrow({ where: { agent_id_version: { agent_id, version: 1 } } });
  const row = (version: number) => ({ agent_id, version, config: config ?? {}, has_run: version % 2 === 0, created_at: now });
  await db().agentVersion.createMany({ data: Array.from({ length: 599 }, (_, index) => row(index + 2)) });
  await db().agent.update({ where: { id: agent_id }, data: { version: 600 } });
  await change({ description: "The 601st" });
  const kept = await db().agentVersion.findMany({ where: { agent_id }, orderBy: { version: "asc" } });
  expect(kept.map(({ version }) => version).slice(-101)).toEqual([500, ...Array.from({ length: 100 }, (_, index) => index + 502)]);
  expect(kept[0]?.version).toBe(102);
  expect(kept.filter(({ version, has_run }) => version <= 501 && !has_run)).toEqual([]);
});

test("an agent from before there were versions is version 1, saved by whoever changed it last", async () => {
  const { admin, agent, agent_id, versions } = await world({ tools: ["web_search"], output_schema: { type: "object" } });
  await db().agentVersion.deleteMany();
  const script = await readFile("prisma/migrations/20261127020000_agent_versions/migration.sql", "utf8");
  await db().$executeRawUnsafe(script.slice(script.indexOf("INSERT INTO")));
  expect((await versions()).items).toMatchObject([
    { version: 1, saved_by: { id: admin.user.id }, created_at: agent.updated_at, changed: [] },
  ]);
  expect((await getAgentVersion(admin, { agent_id, version: 1 })).config).toEqual(configOf(agent));
});

test("the log of a run says which version answered, which is then kept; one that failed says it too", async () => {
  const { admin, agent_id, change } = await world();
  await change({ system_prompt: "Be kind." });
  const logOf = async (execution_id: string) =>
    (await getExecutionLogs(admin, { execution_id })).items
      .filter(({ node_type }) => node_type === "agentNode")
      .map(({ status, agent_version }) => [status, agent_version]);
  const execution_id = await runChain(admin, agentChain([agent_id, agent_id]));
  expect(await logOf(execution_id)).toEqual([
    ["complete", 2],
    ["complete", 2],
  ]);
  await vi.waitFor(async () =>
    expect(await db().agentVersion.findMany({ where: { agent_id, has_run: true } })).toMatchObject([{ version: 2 }]),
  );
  await change({ description: "New" });
  // What is taken over keeps the version that answered; what runs again asks the agent as it is now.
  const rerun = await rerunExecution(admin, { execution_id, from_node_id: "a1", use_current: false });
  await claimAndExecute(engineServices, rerun.execution_id, 1e6);
  expect(await logOf(rerun.execution_id)).toEqual([
    ["complete", 2],
    ["complete", 3],
  ]);
  expect(await logOf(await runChain(admin, agentChain([agent_id], { input: "[[status-401]]" })))).toEqual([["failed", 3]]);
});

test("the workflows that a change reaches are those whose saved version or draft asks the agent", async () => {
  const { admin, agent_id } = await world();
  const used = await createWorkflow(admin, { name: "Zebra", ...agentChain([agent_id]) });
  const draft = await createWorkflow(admin, { name: "Ant", enabled: false });
  await db().workflowAgentUse.create({ data: { workflow_id: draft.id, agent_id } });
  const gone = await createWorkflow(admin, { name: "Gone", ...agentChain([agent_id]) });
  await updateWorkflow(admin, { workflow_id: gone.id, nodes: draft.nodes, edges: [] });
  const page = await listAgentWorkflows(admin, { agent_id, ...all });
  expect(page).toMatchObject({
    total: 2,
    items: [
      { id: draft.id, name: "Ant", enabled: false },
      { id: used.id, name: "Zebra", enabled: true },
    ],
  });
});

test("a configuration is tried as it is given: with its tools, what was said and no secret told; nothing is kept but what it used", async () => {
  const { admin, agent_id, llm_key_id, agent, versions } = await world();
  await createCredential(admin, { name: "TOKEN", value: "pass_word-4!2" });
  models.reset();
  const events: ChatEvent[] = [];
  const config = { ...agent, model: "parrot", system_prompt: "Be loud.", temperature: 1 };
  const history = [
    { role: "user" as const, content: "hi" },
    { role: "assistant" as const, content: "yes?" },
  ];
  const asked = { config, agent_id, message: "say pass_word-4!2", history };
  const reply = await tryAgent(admin, asked, { signal, tell: (event) => events.push(event) });
  expect(reply).toMatchObject({ response: "say ••••", model: "parrot", agent_version: null });
  expect(events.map((event) => ("content" in event ? event.content : "")).join("")).toBe("say ••••");
  const said = ["Be loud.", "hi", "yes?", "say pass_word-4!2"].map((content) => expect.objectContaining({ content }));
  expect(models.calls().map(({ request }) => request)).toMatchObject([{ temperature: 1, messages: said }]);
  expect(await tryAgent(admin, { config: { llm_key_id, model: "echo" }, message: "new", history: [] }, { signal })).toMatchObject({
    response: "Echo: new",
  });
  expect(await testAgent(admin, { agent_id, message: "saved" })).toMatchObject({ response: "Echo: saved", agent_version: 1 });
  expect(await getAgent(admin, { agent_id })).toEqual(agent);
  expect((await versions()).total).toBe(1);
  const used = await db().usageCall.findMany({ where: { project_id: admin.project.id }, orderBy: { id: "asc" } });
  expect(used.map(({ source, model, agent_id: whose }) => [source, model, whose])).toEqual([
    ["chat", "parrot", agent_id],
    ["chat", "echo", "00000000-0000-0000-0000-000000000000"],
    ["chat", "echo", agent_id],
  ]);
});

test("what is tried may use nothing of another project", async () => {
  const { admin, agent_id, llm_key_id } = await world();
  const stranger = await world();
  const attempt = (config: object, more: object = {}) =>
    tryAgent(admin, { config: { llm_key_id, model: "echo", ...config }, message: "hi", history: [], ...more }, { signal });
  models.reset();
  for (const [call, path] of [
    [() => attempt({ llm_key_id: stranger.llm_key_id }), "llm_key_id"],
    [() => attempt({ skill_ids: [stranger.agent_id] }), "skill_ids.0"],
    [() => attempt({ mcp_server_ids: [stranger.agent_id] }), "mcp_server_ids.0"],
    [() => attempt({}, { agent_id: stranger.agent_id }), "agent_id"],
  ] as const)
    await expect(call()).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path }] });
  expect(models.calls()).toEqual([]);
  await deleteAgent(admin, { agent_id });
  expect(await db().agentVersion.count({ where: { agent_id } })).toBe(0);
});

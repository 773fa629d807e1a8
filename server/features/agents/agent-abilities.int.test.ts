import { expect, test } from "vitest";
import { previewPrompt } from "#server/features/agents/compose-question.ts";
import { runAgentCall } from "#server/features/agents/run-agent-call.ts";
import { createAgent, getAgent, updateAgent } from "#server/features/agents/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { newId } from "#server/platform/new-id.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { agentChain, runChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// What an agent has beyond plain answers: tools, knowledge, MCP servers, skills and the form of its answer.

const database = testDatabase();
const models = testModelServer();

async function adminWithKey() {
  const admin = await database.newAdmin();
  const key = await createLlmKey(admin, {
    name: "Main",
    provider: "openai_compatible",
    api_key: "test-key-0123456789",
    base_url: models.url,
  });
  return { admin, key };
}

const newAgent = (admin: ProjectPrincipal, llm_key_id: string, more: object = {}) =>
  createAgent(admin, { name: "Scout", model: "echo", llm_key_id, ...more });

const repair = "does not follow the JSON Schema";
const answerSchema = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"], additionalProperties: false };

test("saving an agent that has tools offers one in the live call, and a model without tools says so", async () => {
  const { admin, key } = await adminWithKey();
  await expect(newAgent(admin, key.id, { model: "no-tools", tools: ["web_search"] })).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringContaining("The model no-tools cannot call tools"),
  });
  const agent = await newAgent(admin, key.id, { model: "no-tools" });
  await expect(updateAgent(admin, { agent_id: agent.id, tools: ["web_scraper"] })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  models.reset();
  await updateAgent(admin, { agent_id: agent.id, model: "echo", tools: ["web_scraper", "web_scraper"] });
  expect(models.calls().map(({ request }) => request.tools?.length)).toEqual([1]);
  await expect(getAgent(admin, { agent_id: agent.id })).resolves.toMatchObject({ model: "echo", tools: ["web_scraper"] });
});

test("a kind without tool calling takes none, however they come together", async () => {
  const { admin, key } = await adminWithKey();
  const hub = await createLlmKey(admin, { name: "Hub", provider: "huggingface", api_key: "hf_0123456789", base_url: models.url });
  const refused = {
    code: "VALIDATION_ERROR",
    errors: [{ path: "tools", message: expect.stringContaining("Models of Hugging Face cannot call tools") }],
  };
  await expect(newAgent(admin, hub.id, { tools: ["web_search"] })).rejects.toMatchObject(refused);
  const agent = await newAgent(admin, key.id, { tools: ["web_search"] });
  await expect(updateAgent(admin, { agent_id: agent.id, llm_key_id: hub.id })).rejects.toMatchObject(refused);
  await updateAgent(admin, { agent_id: agent.id, llm_key_id: hub.id, tools: [] });
});

test("an agent keeps what it is linked with, once each, and only from its own project", async () => {
  const [{ admin, key }, stranger] = [await adminWithKey(), await database.newAdmin()];
  const rag = (project_id: string, name: string) => db().ragSource.create({ data: { project_id, name, type: "documents" } });
  const mcp = (project_id: string) => db().mcpServer.create({ data: { project_id, name: "Tools", url: "https://mcp.example.com/" } });
  const [own, server, foreign] = [
    await rag(admin.project.id, "Handbook"),
    await mcp(admin.project.id),
    await rag(stranger.project.id, "Theirs"),
  ];
  const skill = builtinSkills[0]?.id ?? "";
  const agent = await newAgent(admin, key.id, {
    rag_ids: [own.id, own.id.toUpperCase()],
    mcp_server_ids: [server.id],
    skill_ids: [skill],
    output_schema: answerSchema,
  });
  const links = { rag_ids: [own.id], mcp_server_ids: [server.id], skill_ids: [skill], output_schema: answerSchema };
  expect(agent).toMatchObject(links);
  await expect(updateAgent(admin, { agent_id: agent.id, rag_ids: [own.id, foreign.id], skill_ids: ["no-uuid"] })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [
      { path: "rag_ids.1", message: `There is no RAG source "${foreign.id}" in this project. Choose another, or take it out.` },
      { path: "skill_ids.0", message: expect.stringContaining('There is no skill "no-uuid"') },
    ],
  });
  await expect(getAgent(admin, { agent_id: agent.id })).resolves.toMatchObject(links);
  await updateAgent(admin, { agent_id: agent.id, rag_ids: [], skill_ids: [], output_schema: null });
  await expect(getAgent(admin, { agent_id: agent.id })).resolves.toMatchObject({
    rag_ids: [],
    mcp_server_ids: [server.id],
    skill_ids: [],
    output_schema: null,
  });
  const entry = await db().auditEntry.findFirstOrThrow({ where: { project_id: admin.project.id }, orderBy: { id: "desc" } });
  expect(entry.detail).toEqual({ changed: ["output_schema", "rag_ids", "skill_ids"] });
});

test("an output schema that cannot be checked is refused with the reason", async () => {
  const { admin, key } = await adminWithKey();
  await expect(newAgent(admin, key.id, { output_schema: { type: "nonsense" } })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "output_schema", message: "Answers cannot be checked against this JSON Schema: Unsupported type: nonsense." }],
  });
});

test("a call searches the agent's knowledge, follows its skills and tells of both", async () => {
  const { admin, key } = await adminWithKey();
  const project_id = admin.project.id;
  const source = await db().ragSource.create({ data: { project_id, name: "Handbook", type: "documents" } });
  const skill = builtinSkills[0];
  const agent = await newAgent(admin, key.id, {
    model: "tool-search_knowledge",
    rag_ids: [source.id],
    skill_ids: [skill?.id],
    system_prompt: "Be brief.",
    output_schema: answerSchema,
  });
  models.reset();
  const told: unknown[] = [];
  const result = await runAgentCall({
    project_id,
    agent_id: agent.id,
    message: "Where are the looms?",
    timeoutMs: 20_000,
    retries: 0,
    onToolCall: ({ name, args }) => told.push([name, args]),
    onToolResult: ({ name }, { result: text, success }) => told.push([name, text, success]),
  });
  expect(told).toEqual([
    ["search_knowledge", { query: "Where are the looms?" }],
    ["search_knowledge", "Nothing was found. Try other words.", true],
  ]);
  expect(JSON.parse(result.text)).toEqual({ answer: "The tool said: Nothing was found. Try other words." });
  expect(result.tool_calls).toEqual([
    {
      name: "search_knowledge",
      args: { query: "Where are the looms?" },
      result: "Nothing was found. Try other words.",
      success: true,
    },
  ]);
  const request = models.calls()[0]?.request;
  const system = String(request?.messages[0]?.content);
  expect(system.startsWith(`Be brief.\n\n# Skill: ${skill?.name}\n\n${skill?.prompt}`)).toBe(true);
  expect(request?.tools?.[0]?.function).toMatchObject({ name: "search_knowledge", description: expect.stringContaining("(Handbook)") });
});

test("a run keeps the pieces of knowledge that an agent was given, each with its place and age; what was kept without them is read", async () => {
  const { admin, key } = await adminWithKey();
  const project_id = admin.project.id;
  const rag = await db().ragSource.create({ data: { project_id, name: "Handbook", type: "documents" } });
  const at = { rag_source_id: rag.id, title: "House rules", status: "ready" as const };
  const document = await db().ragDocument.create({ data: at });
  const text = `one two three ${"and more of it ".repeat(30)}`;
  await pool().query(
    "INSERT INTO rag_chunks (id, document_id, rag_source_id, position, place, text, search) VALUES ($1, $2, $3, 0, 'Cellar', $4, to_tsvector('simple', $4))",
    [newId(), document.id, rag.id, text],
  );
  const agent = await newAgent(admin, key.id, { model: "tool-search_knowledge", rag_ids: [rag.id] });
  const execution_id = await runChain(admin, agentChain([agent.id]));
  const calls = async () => (await getExecutionLogs(admin, { execution_id, node_id: "a0" })).items[0]?.tool_calls;
  expect(await calls()).toMatchObject([
    {
      name: "search_knowledge",
      sources: [
        {
          ...{ number: 1, rag_id: rag.id, document_id: document.id, title: "House rules", uri: null, place: "Cellar" },
          ...{ excerpt: text.slice(0, 200), read_at: document.updated_at.toISOString() },
        },
      ],
    },
  ]);
  await pool().query(
    `UPDATE node_run_values SET tool_calls = jsonb_set(tool_calls, '{0}', (tool_calls -> 0) - 'sources')
     WHERE node_run_id IN (SELECT id FROM node_runs WHERE execution_id = $1) AND tool_calls IS NOT NULL`,
    [execution_id],
  );
  expect((await calls())?.map((call) => Object.keys(call).toSorted())).toEqual([["args", "name", "result", "success"]]);
});

test("a viewer that can forget sees a wrong answer taken back; one that cannot sees only the right one", async () => {
  const { admin, key } = await adminWithKey();
  const agent = await newAgent(admin, key.id, { model: "bad-json-1", output_schema: answerSchema });
  const call = { project_id: admin.project.id, agent_id: agent.id, message: "hi", timeoutMs: 20_000, retries: 0 };
  const seen: string[] = [];
  await runAgentCall({ ...call, onDelta: (piece) => seen.push(piece), onRestart: () => seen.push("(restart)") });
  expect(seen.join("")).toMatch(/^Here you are: .*\(restart\)\{"answer":/);
  const held: string[] = [];
  const { text } = await runAgentCall({ ...call, onDelta: (piece) => held.push(piece) });
  expect([held, JSON.parse(text).answer.includes(repair)]).toEqual([[text], true]);
});

test("the preview of a prompt is what the model is sent, and calls nobody", async () => {
  const { admin, key } = await adminWithKey();
  const project_id = admin.project.id;
  const rag = await db().ragSource.create({ data: { project_id, name: "Handbook", type: "documents" } });
  const mcp = await db().mcpServer.create({
    data: {
      project_id,
      name: "Shelf",
      url: "https://mcp.example.com/",
      tools: [{ name: "find", description: "Finds a book.", input_schema: { type: "object", properties: {} } }],
    },
  });
  const skill = builtinSkills[0];
  const fields = {
    llm_key_id: key.id,
    model: "json",
    system_prompt: "Be brief. The token is {{credentials.SHELF}}.",
    temperature: 0.2,
    max_tokens: 500,
    tools: ["web_search" as const],
    mcp_server_ids: [mcp.id],
    rag_ids: [rag.id],
    skill_ids: [skill?.id ?? ""],
    output_schema: answerSchema,
  };
  const preview = await previewPrompt(admin, fields);
  expect(models.calls()).toEqual([]);
  expect(preview.system).toContain(`Be brief. The token is {{credentials.SHELF}}.\n\n# Skill: ${skill?.name}\n\n${skill?.prompt}`);
  // Compatible servers take no schema while tools are offered, so the model is told of it in words.
  expect(preview.system).toContain("It must follow this JSON Schema:");
  expect(preview.response_format).toBeNull();
  expect(preview.tools.map(({ name }) => name)).toEqual(["web_search", "search_knowledge", "shelf__find"]);
  const agent = await createAgent(admin, { name: "Scout", ...fields });
  models.reset();
  await runAgentCall({
    project_id,
    agent_id: agent.id,
    message: "(what the agent is asked)",
    timeoutMs: 20_000,
    retries: 0,
    onDelta: () => undefined,
    onRestart: () => undefined,
  });
  expect(models.calls()[0]?.request).toEqual(preview.body);

  const bound = await previewPrompt(admin, { llm_key_id: key.id, model: "echo", output_schema: answerSchema });
  expect(bound).toMatchObject({ system: null, tools: [], response_format: { json_schema: { schema: answerSchema, strict: true } } });
  const stranger = await database.newAdmin();
  await expect(previewPrompt(stranger, fields)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "llm_key_id" }] });
});

import { readFileSync } from "node:fs";
import { graphOf } from "#e2e/api/graphs.ts";
import { settled } from "#e2e/api/rag-forms.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { exampleText, folder, missing, play } from "#e2e/examples.ts";
import { type KnowledgeServer, startKnowledgeServer } from "#e2e/fakes/knowledge-server.ts";
import { MCP_TOKEN } from "#e2e/fakes/mcp-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { type McpProcess, startMcpProcess } from "#e2e/mcp-process.ts";
import { Agent, AgentReply, ChatEvent } from "#server/features/agents/schema.ts";
import { AuditPage } from "#server/features/audit/schema.ts";
import { Credential } from "#server/features/credentials/schema.ts";
import { Rag, RagDocument, RagDocumentPage, RagSearchResult } from "#server/features/knowledge/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { McpServerDetail, McpTools } from "#server/features/mcp/schema.ts";
import { Project, SetMemberResult } from "#server/features/projects/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecutionLogs } from "#server/runs/schema.ts";
import { RunToolCall } from "#server/runs/tool-call-schema.ts";

// As docs.spec.ts: the examples of the pages about agents, knowledge, credentials and administration.

let mcp: McpProcess;
let web: KnowledgeServer;
test.beforeAll(async () => {
  [mcp, web] = await Promise.all([startMcpProcess(), startKnowledgeServer()]);
});
test.afterAll(() => Promise.all([mcp.stop(), web.stop()]));

const absent = missing("sh");
const variables = (url: string, { key }: ApiClient): Record<string, string> => ({ TREADLE_URL: `${url}/api/v1`, TREADLE_KEY: key });
const eventsOf = (stream: string) => [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => ChatEvent.parse(JSON.parse(data)));

test.describe("with curl", () => {
  test.skip(absent !== false, String(absent));

  test("an agent is made, chatted with, bound to a schema and given tools, and its run tells what they did", async ({
    baseURL,
    api,
    modelServer,
    llmKey,
    workflow,
    executed,
  }) => {
    const env = { ...variables(baseURL, api), LLM_KEY_ID: (await llmKey()).id };
    const agent = Agent.parse(JSON.parse(await play("create-agent.sh", env)));
    expect(agent).toMatchObject({ name: "Scout", tools: ["web_search", "web_scraper"] });
    const about = { ...env, AGENT_ID: agent.id };
    const said = eventsOf(await play("chat-with-agent.sh", about));
    expect(said.map((event) => (event.type === "delta" ? event.content : "")).join("")).toBe("Echo: And in Lyon?");
    expect(said.at(-1)?.type).toBe("done");
    expect(AgentReply.parse(JSON.parse(await play("ask-agent.sh", about))).response).toBe("Echo: What is new in Como?");
    expect(AgentReply.parse(JSON.parse(await play("try-agent.sh", about)))).toMatchObject({ agent_version: null });
    expect(await play("restore-agent.sh", about)).toMatch(/"is_current":true.*"version":2/s);
    const key = { ...env, MODEL_URL: modelServer.url, MODEL_KEY: "test-key-0123456789" };
    expect(LlmKey.parse(JSON.parse(await play("add-llm-key.sh", key))).name).toBe("Gateway");

    const server = { ...env, MCP_URL: `${mcp.url}/locked/mcp`, MCP_TOKEN };
    expect(McpTools.parse(JSON.parse(await play("discover-mcp.sh", server))).tools.map(({ name }) => name)).toContain("echo");
    const shelf = McpServerDetail.parse(JSON.parse(await play("connect-mcp.sh", server)));
    const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { schema: Rag, status: 201 });
    const given = Agent.parse(JSON.parse(await play("give-tools.sh", { ...about, MCP_ID: shelf.id, RAG_ID: rag.id })));
    expect(given).toMatchObject({ tools: ["web_scraper"], mcp_server_ids: [shelf.id], rag_ids: [rag.id] });

    await api.put(`/agents/${agent.id}`, { model: "tool-shelf__echo" }, { status: 200 });
    const flow = await workflow(graphOf({ Start: ["trigger"], Ask: ["agent", { agent_id: agent.id }] }, ["Start>Ask"]));
    const { id } = await executed(flow, { input: "Hello" });
    const logs = ExecutionLogs.parse(JSON.parse(await play("read-logs.sh", { ...env, EXECUTION_ID: id })));
    expect(logs.items.find(({ node_id }) => node_id === "Ask")?.tool_calls).toEqual([
      { name: "shelf__echo", args: { text: "Hello" }, result: "Hello", success: true },
    ]);

    await api.put(`/agents/${agent.id}`, { model: "echo" }, { status: 200 });
    const bound = Agent.parse(JSON.parse(await play("set-output-schema.sh", about)));
    expect(bound).toMatchObject(JSON.parse(exampleText("output-schema.json")));
  });

  test("a source takes a file, a text and a page, which are found, by meaning too", async ({ baseURL, api }) => {
    const env = variables(baseURL, api);
    const rag = Rag.parse(JSON.parse(await play("create-source.sh", env)));
    const about = { ...env, RAG_ID: rag.id, PAGE_URL: `${web.url}/pages/changing` };
    for (const file of ["add-file.sh", "add-text.sh", "add-page.sh"]) {
      const document = RagDocument.parse(JSON.parse(await play(file, about)));
      expect(await settled(api, document)).toMatchObject({ status: "ready", error: null });
    }
    expect(RagDocumentPage.parse(JSON.parse(await play("list-documents.sh", about))).total).toBe(0);
    const hit = { title: "house-rules.md", place: "House › Quiet hours", text: "Nobody plays the drums after ten." };
    const search = async () => RagSearchResult.parse(JSON.parse(await play("search-source.sh", about))).items[0];
    expect(await search()).toMatchObject(hit);
    expect(readFileSync(`${folder}/house-rules.md`, "utf8")).toContain(hit.text);

    const key = { name: "Vectors", provider: "openai_compatible", api_key: "vector-key", base_url: `${web.url}/v1` };
    const { body: vectors } = await api.post("/llm-keys", key, { status: 201 });
    const changed = Rag.parse(JSON.parse(await play("set-embedding.sh", { ...about, LLM_KEY_ID: vectors.id })));
    expect(changed.config).toEqual({ embedding_llm_key_id: vectors.id, embedding_model: "text-embedding-3-small" });
    expect(await search()).toMatchObject(hit);
  });

  test("a credential is masked in what a run keeps", async ({ baseURL, api, executed }) => {
    const GITHUB_TOKEN = "tok_4c1d7f20ab";
    const made = Credential.strict().parse(JSON.parse(await play("add-credential.sh", { ...variables(baseURL, api), GITHUB_TOKEN })));
    expect(made.name).toBe("GITHUB_TOKEN");
    const { body: flow } = await api.post("/workflows", JSON.parse(exampleText("credential-workflow.json")), {
      schema: Workflow,
      status: 201,
    });
    expect(flow.problems).toEqual([]);
    const ended = await executed(flow);
    expect([ended.status, ended.output]).toEqual(["completed", "Bearer ••••"]);
    expect(JSON.stringify((await api.get(`/executions/${ended.id}/logs`)).body)).not.toContain(GITHUB_TOKEN);
  });

  test("members, audit log and retention; a project and an account are deleted", async ({ baseURL, api, person, workflow }) => {
    const env = { ...variables(baseURL, api), PROJECT_ID: person.project.id, PASSWORD: person.password };
    const invited = SetMemberResult.parse(JSON.parse(await play("add-member.sh", env)));
    expect(invited).toMatchObject({ email: "grace@example.com", role: "editor" });
    const { id } = await workflow({});
    await api.put(`/workflows/${id}`, { description: "New" }, { status: 200 });
    const audit = AuditPage.parse(JSON.parse(await play("read-audit.sh", env)));
    expect(audit.items.map(({ action, resource_id }) => [action, resource_id])).toEqual([["workflow.update", id]]);
    expect(Project.parse(JSON.parse(await play("set-retention.sh", env))).retention_days).toBe(90);
    await play("delete-project.sh", env);
    await api.get(`/projects/${person.project.id}`, { status: 404 });
    await play("delete-account.sh", env);
    await api.get("/auth/me", { status: 401 });
  });
});

test("the answers that are shown have the shapes of the API", () => {
  expect(() =>
    RunToolCall.strict()
      .array()
      .parse(JSON.parse(exampleText("tool-calls.json"))),
  ).not.toThrow();
  const { items } = RagSearchResult.strict().parse(JSON.parse(exampleText("search-answer.json")));
  expect(exampleText("house-rules.md")).toContain(items[0]?.text);
  const events = eventsOf(exampleText("chat-events.txt"));
  expect(events.map(({ type }) => type)).toEqual([...exampleText("chat-events.txt").matchAll(/^event: (.*)$/gm)].map(([, type]) => type));
});

// Variables of "several-processes.env" and "inngest.env" are compared with the settings in server/platform/settings-schema.test.ts.

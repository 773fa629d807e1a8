import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { Agent, AgentPage } from "#server/features/agents/schema.ts";
import { Rag } from "#server/features/knowledge/schema.ts";
import { ImportCheck, ImportedWorkflow, WorkflowFile, WorkflowTemplates } from "#server/features/workflow-files/schema.ts";
import { Workflow, WorkflowPage } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

const exported = async (api: ApiClient, id: string) => (await api.get(`/workflows/${id}/export`, { schema: WorkflowFile })).body;
const imported = async (api: ApiClient, body: object) =>
  (await api.post("/workflows/import", body, { schema: ImportedWorkflow, status: 201 })).body;

test("every template comes in, and goes out as it came", async ({ api }) => {
  const { items } = (await api.get("/workflow-templates", { schema: WorkflowTemplates })).body;
  expect(items.length).toBeGreaterThanOrEqual(12);
  expect(items.filter(({ needs_model }) => !needs_model).length).toBeGreaterThanOrEqual(3);
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  for (const { id, file, needs_model } of items) {
    const { body: check } = await api.post("/workflows/import/check", { file }, { schema: ImportCheck });
    expect(check.is_complete, id).toBe(!needs_model && file.requires.credentials.length === 0);
    const made = await imported(api, { file });
    // Nothing was linked, so the nodes of agents, and of credentials, are all that is wrong.
    const asking = file.nodes.filter((node) => node.type === "agentNode").map((node) => node.id);
    expect(
      made.problems.filter(({ message }) => !message.includes("credential")).map(({ node_id }) => node_id),
      id,
    ).toEqual(asking);
    expect(await exported(api, made.id), id).toEqual(file);
  }
});

test("nothing secret, and no id of the installation, is in a file", async ({ api, llmKey, person }) => {
  const secret = { credential: `cred-${randomUUID()}`, header: `head-${randomUUID()}`, key: "stand-in-key" };
  await api.post("/credentials", { name: "CRM_TOKEN", value: secret.credential }, { status: 201 });
  const { id: rag } = (await api.post("/rags", { name: "Handbook", type: "documents" }, { schema: Rag, status: 201 })).body;
  const { id: llm_key_id } = await llmKey();
  const foreign = `gh${"p_"}${randomUUID().replaceAll("-", "")}abcd`;
  const prompt = `Never say ${secret.key} or ${secret.credential} or ${foreign}`;
  const fields = { name: "Scout", model: "echo", llm_key_id, system_prompt: prompt, rag_ids: [rag] };
  const { body: agent } = await api.post("/agents", fields, { schema: Agent, status: 201 });
  const graph = graphOf(
    {
      t: ["trigger", { kind: "webhook" }],
      a: ["agent", { agent_id: agent.id, input: "Ask with {{credentials.CRM_TOKEN}}", pinned: { output: "pinned-canary" } }],
      o: ["output", { value: `typed: ${secret.credential}`, headers: { Authorization: `Bearer ${foreign}` } }],
    },
    ["t>a", "a>o"],
  );
  const { body: made } = await api.post("/workflows", { name: "Safe", ...graph }, { schema: Workflow, status: 201 });
  const { body: hook } = await api.post(`/webhooks/setup/${made.id}`, {});
  const file = await exported(api, made.id);
  const text = JSON.stringify(file);
  for (const canary of [
    ...Object.values(secret),
    foreign,
    hook.webhook_secret,
    "pinned-canary",
    person.project.id,
    made.id,
    agent.id,
    llm_key_id,
    rag,
  ])
    expect(text).not.toContain(canary);
  expect(file.nodes[2]?.data).toMatchObject({ value: "typed: ••••", headers: { Authorization: "••••" } });
  // What was taken out is told: in the file, and by the check list of its import.
  const masked = [
    { of: "agent", name: "Scout", field: "system_prompt", what: "secret of the project" },
    { of: "agent", name: "Scout", field: "system_prompt", what: "GitHub token" },
    { of: "node", name: "o", field: "value", what: "secret of the project" },
    { of: "node", name: "o", field: "headers", what: "value with a secret's name" },
  ];
  expect(file.masked).toEqual(masked);
  expect((await api.post("/workflows/import/check", { file }, { schema: ImportCheck })).body.masked).toEqual(masked);
  expect(file).toMatchObject({
    format: "treadle-workflow",
    version: 1,
    requires: {
      agents: [{ key: "scout", name: "Scout", model: "echo", provider: "openai_compatible", rag_sources: ["Handbook"] }],
      rag_sources: [{ name: "Handbook" }],
      credentials: ["CRM_TOKEN"],
    },
  });
  expect(file.nodes[1]?.data).toMatchObject({ agent_id: "scout", input: "Ask with {{credentials.CRM_TOKEN}}" });
});

test("an agent is used where it is, made where it is wanted, and kept where it is left open", async ({
  api,
  llmKey,
  newProject,
  agent,
}) => {
  const scout = await agent({ name: "Scout", model: "echo", system_prompt: "Find it.", temperature: 0.25 });
  const graph = graphOf({ t: ["trigger", { kind: "manual" }], a: ["agent", { agent_id: scout.id }], o: ["output"] }, ["t>a", "a>o"]);
  const nodes = graph.nodes.map((node) => ({ ...node, width: 250, style: { opacity: 1 } }));
  const { body: made } = await api.post("/workflows", { name: "Home", ...graph, nodes }, { schema: Workflow, status: 201 });
  const file = await exported(api, made.id);
  expect(file.nodes[0]).toMatchObject({ width: 250, style: { opacity: 1 } });

  // Here: the same name is the same agent.
  const here = await imported(api, { file });
  expect(here).toMatchObject({ problems: [], enabled: true, name: "Home" });
  expect(here.nodes[1]?.data.agent_id).toBe(scout.id);

  // Elsewhere: open at first; nothing of it is lost.
  const other = await newProject();
  const { body: check } = await other.api.post("/workflows/import/check", { file }, { schema: ImportCheck });
  expect(check.agents).toEqual([
    {
      key: "scout",
      name: "Scout",
      model: "echo",
      provider: "openai_compatible",
      needs_tools: false,
      is_defined: true,
      existing: null,
      nodes: ["a"],
    },
  ]);
  const open = await imported(other.api, { file });
  expect(open.problems).toMatchObject([{ node_id: "a", field: "agent_id", message: expect.stringContaining("create “Scout”") }]);
  expect(await exported(other.api, open.id)).toEqual(file);
  expect((await other.api.get("/agents", { schema: AgentPage })).body.total).toBe(0);

  // Made with a key of that project.
  const { base_url } = await llmKey();
  const key = { name: "Theirs", provider: "openai_compatible", api_key: "their-key", base_url };
  const { body: theirs } = await other.api.post("/llm-keys", key, { status: 201 });
  const create = { agents: [{ key: "scout", action: "create", llm_key_id: theirs.id }] };
  const linked = await imported(other.api, { file, links: create });
  expect(linked.problems).toEqual([]);
  const { items } = (await other.api.get("/agents", { schema: AgentPage })).body;
  expect(items).toMatchObject([{ name: "Scout", system_prompt: "Find it.", temperature: 0.25, llm_key_id: theirs.id }]);
  expect(linked.nodes[1]?.data.agent_id).toBe(items[0]?.id);
  expect(await exported(other.api, linked.id)).toEqual(file);

  // A second one under the same name gets a number; one whose model fails leaves nothing behind.
  await imported(other.api, { file, links: create });
  const failing = { agents: [{ ...create.agents[0], model: "status-500" }] };
  const { body: refused } = await other.api.post("/workflows/import", { file, links: failing }, { schema: ErrorBody, status: 502 });
  expect(refused.detail).toContain('Agent "Scout"');
  const { items: now } = (await other.api.get("/agents", { schema: AgentPage })).body;
  expect(now.map(({ name }) => name)).toEqual(["Scout 2", "Scout"]);
  expect((await other.api.get("/workflows", { schema: WorkflowPage })).body.total).toBe(3);
});

test("what an agent searches is linked by name or choice, or stays a problem", async ({ api, llmKey }) => {
  const { id: llm_key_id } = await llmKey();
  const graph = graphOf(
    { t: ["trigger", { kind: "schedule", cron_expression: "0 9 * * *" }], a: ["agent", { agent_id: "guide" }], o: ["output"] },
    ["t>a", "a>o"],
  );
  const guide = { key: "guide", name: "Guide", model: "echo", rag_sources: ["Handbook", "Wiki"], skills: ["House style", "Summarize"] };
  const file = {
    format: "treadle-workflow",
    version: 1,
    name: "Answers",
    description: "",
    ...graph,
    requires: { agents: [guide], skills: [{ name: "House style", description: "", prompt: "Plain words.", model: "" }] },
  };
  const { body: rag } = await api.post("/rags", { name: "Handbook", type: "documents" }, { schema: Rag, status: 201 });
  const { body: check } = await api.post("/workflows/import/check", { file }, { schema: ImportCheck });
  expect(check).toMatchObject({
    trigger: "schedule",
    is_complete: false,
    rag_sources: [
      { name: "Handbook", existing: { id: rag.id, name: "Handbook" }, agents: ["Guide"] },
      { name: "Wiki", existing: null, agents: ["Guide"] },
    ],
    skills: [
      { name: "House style", exists: false },
      { name: "Summarize", exists: true },
    ],
  });
  const links = { agents: [{ key: "guide", action: "create", llm_key_id }] };
  const made = await imported(api, { file, links });
  // A schedule waits until somebody has looked.
  expect(made).toMatchObject({
    enabled: false,
    problems: [{ node_id: "a", field: "agent_id", message: expect.stringContaining("“Wiki”") }],
  });
  const { body: agent } = await api.get(`/agents/${made.nodes[1]?.data.agent_id}`, { schema: Agent });
  expect(agent.rag_ids).toEqual([rag.id]);
  expect(agent.skill_ids).toHaveLength(2);
  expect((await exported(api, made.id)).requires).toMatchObject({
    agents: [{ rag_sources: ["Handbook", "Wiki"], skills: ["House style", "Summarize"] }],
    skills: [
      { name: "House style", prompt: "Plain words." },
      { name: "Summarize", prompt: null },
    ],
  });
  const both = { ...links, rag_sources: [{ name: "Wiki", rag_id: rag.id }] };
  expect((await imported(api, { file, links: both })).problems).toEqual([]);
  for (const [wrong, path] of [
    [{ agents: [{ key: "nobody", action: "open" }] }, "links.agents.0"],
    [{ agents: [{ key: "guide", action: "use", agent_id: randomUUID() }] }, "links.agents.0.agent_id"],
    [{ rag_sources: [{ name: "Wiki", rag_id: randomUUID() }] }, "links.rag_sources.0.rag_id"],
  ] as const) {
    const { body } = await api.post("/workflows/import", { file, links: wrong }, { schema: ErrorBody, status: 422 });
    expect(body.errors?.map((error) => error.path)).toEqual([path]);
  }
});

const ofN8n = (name: string): unknown => JSON.parse(readFileSync(`server/features/workflow-files/n8n/examples/${name}.json`, "utf8"));

test("a workflow of n8n comes in, says what is to be done, and runs as it did", async ({ api, finished }) => {
  const file = ofN8n("orders");
  const { body: check } = await api.post("/workflows/import/check", { file }, { schema: ImportCheck });
  expect(check).toMatchObject({ name: "Orders", trigger: "http", is_complete: true, import_report: { format: "n8n" } });
  const made = await imported(api, { file });
  expect(made.problems).toEqual([]);
  expect(made.import_report).toEqual(check.import_report);
  expect(made.import_report?.nodes.map(({ became }) => became)).toEqual([
    ...["triggerNode", "setNode", "branchNode", "switchNode", null, "outputNode", "outputNode"],
  ]);
  // The same list is at the nodes, and goes with them into a file.
  const kept = made.nodes.flatMap(({ id, data }) => ((data.to_do ?? []) as object[]).map((one) => ({ node_id: id, ...one })));
  expect(kept).toEqual(made.import_report?.to_do);
  expect((await exported(api, made.id)).nodes).toEqual(made.nodes);
  const answer = async (total: number, name: string) => {
    const input = JSON.stringify({ body: { total, customer: { name } } });
    const { body: run } = await api.post(`/workflows/${made.id}/execute`, { input }, { status: 202 });
    return (await finished(run.execution_id)).output;
  };
  expect(JSON.parse(String(await answer(250, " Ada ")))).toEqual({ queue: "priority", customer: "Ada", total: 250 });
  expect(await answer(250, "Grace")).toBe("usual: Grace");
  expect(await answer(20, "Ada")).toBe("usual: Ada");
});

test("of a workflow of n8n nothing is refused because of one node, its agents are linked as any, and no secret comes in", async ({
  api,
  llmKey,
}) => {
  const file = ofN8n("digest");
  const { id: llm_key_id } = await llmKey();
  const { body: check } = await api.post("/workflows/import/check", { file }, { schema: ImportCheck });
  expect(check.agents).toMatchObject([{ name: "AI Agent (Morning digest)", model: "gpt-4o-mini", provider: "openai", is_defined: true }]);
  expect(check.credentials.map(({ name }) => name).sort()).toEqual(["NEWS_API", "TAG"]);
  expect(check.masked).toMatchObject([{ name: "Get articles" }]);
  const links = { agents: [{ key: "agent-1", action: "create", llm_key_id, model: "echo" }] };
  const made = await imported(api, { file, links });
  expect(made).toMatchObject({ enabled: false, schedule: { cron_expression: "30 8 * * 1,3,5", timezone: "Europe/Berlin" } });
  expect(JSON.stringify(made)).not.toContain("wrong1place2for3a4secret");
  expect(made.problems.filter(({ field }) => field === "agent_id")).toEqual([]);
  const { items } = (await api.get("/agents", { schema: AgentPage })).body;
  expect(items).toMatchObject([{ name: "AI Agent (Morning digest)", model: "echo", system_prompt: "You write short digests." }]);
});

test("what is no workflow file is refused with a sentence about it", async ({ api }) => {
  const node = { id: "x", type: "magicNode", position: { x: 0, y: 0 }, data: {} };
  const ours = { format: "treadle-workflow", version: 1, name: "N", description: "", nodes: [], edges: [], requires: {} };
  const cases: [object, RegExp, string?][] = [
    [{ nodes: [{ name: "Webhook", parameters: {} }], connections: {} }, /workflow of n8n/],
    [{ app: {}, kind: "app", version: "0.1.5", workflow: {} }, /workflow of Dify/],
    [{ blocks: {}, edges: [] }, /workflow of Sim/],
    [{ data: { nodes: [], edges: [] } }, /workflow of Langflow/],
    [{ hello: "world" }, /no workflow/],
    [{ ...ours, version: 2 }, /version 2.*Update the service/],
    [{ ...ours, nodes: [{ id: "x" }] }, /damaged at nodes\.0/, "file.nodes.0.type"],
    [{ ...ours, extra: 1 }, /damaged/],
    [ours, /no trigger/, "file.nodes"],
    [{ nodes: [node], edges: [{ id: "e", source: "x", target: "y" }] }, /cannot be saved/, "file.nodes.0.type"],
  ];
  for (const [file, sentence, path] of cases) {
    const { body } = await api.post("/workflows/import/check", { file }, { schema: ErrorBody, status: 422 });
    expect(body.detail).toMatch(sentence);
    if (path) expect(body.errors?.map((error) => error.path)).toContain(path);
    const { body: again } = await api.post("/workflows/import", { file }, { schema: ErrorBody, status: 422 });
    expect(again).toEqual(body);
  }
  expect((await api.get("/workflows", { schema: WorkflowPage })).body.total).toBe(0);
});

test("a React Flow graph, as the API shows a workflow, is a file too; the draft can be had", async ({ api, agent }) => {
  const { id: agent_id } = await agent({ name: "Scout", model: "echo" });
  const graph = graphOf({ t: ["trigger", { kind: "manual" }], a: ["agent", { agent_id }] }, ["t>a"]);
  const { body: made } = await api.post("/workflows", { name: "Shown", ...graph }, { schema: Workflow, status: 201 });
  const { body: shown } = await api.get(`/workflows/${made.id}`);
  const copy = await imported(api, { file: shown, name: "Copy" });
  expect(copy).toMatchObject({ name: "Copy", nodes: made.nodes, edges: made.edges, problems: [] });
  const bare = await imported(api, { file: graphOf({ t: ["trigger"] }, []) });
  expect(bare.name).toBe("Imported workflow");
  const { body: draft } = await api.get(`/workflows/${copy.id}/export?draft=true`, { schema: WorkflowFile });
  expect(draft).toEqual(await exported(api, copy.id));
});

test("a workflow that another one runs comes along; a bare graph asks for another, and nothing runs until then", async ({
  api,
  newProject,
}) => {
  const child = graphOf({ t: ["trigger", { kind: "manual" }], o: ["output", { value: "made by the child" }] }, ["t>o"]);
  const { body: other } = await api.post("/workflows", { name: "Child", ...child }, { schema: Workflow, status: 201 });
  const graph = graphOf({ t: ["trigger", { kind: "manual" }], w: ["workflow", { workflow_id: other.id }], o: ["output"] }, ["t>w", "w>o"]);
  const { body: made } = await api.post("/workflows", { name: "Parent", ...graph }, { schema: Workflow, status: 201 });
  const file = await exported(api, made.id);
  expect(JSON.stringify(file)).not.toContain(other.id);
  expect(await imported(api, { file })).toMatchObject({ problems: [], nodes: made.nodes });

  const elsewhere = await newProject();
  const whole = await imported(elsewhere.api, { file });
  expect(whole.problems).toEqual([]);
  const { body: run } = await elsewhere.api.post(`/workflows/${whole.id}/execute`, { input: "" }, { schema: ExecuteResult, status: 202 });
  const ended = await until(async () => {
    const { body } = await elsewhere.api.get(`/executions/${run.execution_id}`, { schema: Execution });
    return isFinal(body.status) ? body : undefined;
  });
  expect(ended).toMatchObject({ status: "completed", output: "made by the child" });

  const bare = await imported(elsewhere.api, { file: { nodes: made.nodes, edges: made.edges } });
  const message = "The workflow that this node names is not in this project. Choose another.";
  expect(bare.problems).toMatchObject([{ node_id: "w", field: "workflow_id", message }]);
  const { body } = await elsewhere.api.post(`/workflows/${bare.id}/execute`, { input: "" }, { schema: ErrorBody, status: 422 });
  expect(JSON.stringify(body)).toContain(message);
});

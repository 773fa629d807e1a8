import { createHmac, randomUUID } from "node:crypto";
import { cron, everyNode, workflowFile } from "#e2e/api/workflow-samples.ts";
import type { World } from "#e2e/api/world.ts";
import type { Person } from "#e2e/fixtures.ts";

// One well-formed request for every operation of the API. Whoever adds an operation adds a row: the specs that walk the API
// document fail by the operation's name until then.

export type Json = Record<string, unknown>;

export interface Sample {
  /** Values of the path's parameters. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: Json;
  /** Who alone may send it; left out, any member with the role. */
  by?: Person;
  /** Further headers for a body as it is sent. */
  sign?: (body: string) => Record<string, string>;
}

/**
 * Makes a request that an admin of the world's project may make, for what exists there. Called for each use: what the request
 * deletes or ends, it makes first.
 */
type Row = (world: World) => Sample | Promise<Sample>;

const agent = async (world: World, agent_id = world.newAgent()) => ({ agent_id: await agent_id });
const execution = (id: (world: World) => string | Promise<string>) => async (world: World) => ({ path: { execution_id: await id(world) } });
const workflow = (id: (world: World) => string | Promise<string>) => async (world: World) => ({ path: { workflow_id: await id(world) } });
const inProject = ({ admin }: World) => ({ project_id: admin.project.id });
const http: Row = ({ ids }) => ({ path: { workflow_id: ids.http }, body: { order: 7 } });
const page = { query: { page: "1", per_page: "5" } };
const person = (email: string) => ({ email, name: "Newcomer", password: randomUUID() });

const agentFields = ({ ids, name }: World) => ({
  name: name(),
  description: "Repeats",
  llm_key_id: ids.llmKey,
  model: "echo",
  system_prompt: "Be brief",
  temperature: 0.5,
  max_tokens: 100,
  tools: ["web_search"],
  mcp_server_ids: [],
  rag_ids: [],
  skill_ids: [],
  output_schema: { type: "object", properties: { a: { type: "string" } } },
});

const mcpFields = ({ mcpUrl, name }: World) => ({
  name: name(),
  url: mcpUrl,
  transport: "streamable_http",
  headers: { "X-Order": "7" },
  disabled_tools: ["never"],
});

const widgets = ({ ids }: Pick<World, "ids">) =>
  Object.entries({
    text: { path: "$.a" },
    number: { path: "$.a", unit: "€", decimals: 2 },
    table: { path: "$.rows", columns: [{ label: "Name", path: "$.name" }] },
    chart: { kind: "bar", x: "$[*].month", y: "$[*].revenue" },
  }).map(([type, options], y) => ({
    id: type,
    type,
    title: type,
    workflow_id: ids.workflow,
    output_label: "o",
    layout: { x: 0, y, w: 6, h: 1 },
    options,
  }));

export const samples: Record<string, Row> = {
  "GET /auth/me": () => ({}),
  "GET /users/me": () => ({}),
  "DELETE /users/me": async ({ newPerson }) => {
    const by = await newPerson();
    return { by, query: { password: by.password, delete_projects: "true" } };
  },
  "POST /auth/sign-up": () => ({ body: person(`${randomUUID()}@example.com`) }),
  "GET /invitations/{token}": async (world) => ({ path: { token: await world.newInvitation() } }),
  "POST /invitations/{token}/accept": async (world) => ({
    path: { token: await world.newInvitation() },
    body: { name: "Newcomer", password: randomUUID() },
  }),

  "GET /llm-providers": () => ({}),
  "GET /llm-keys": () => page,
  "POST /llm-keys": ({ name }) => ({
    body: {
      name: name(),
      provider: "azure",
      api_key: "k-1",
      base_url: "https://models.example.com",
      api_version: "2024-10-21",
      prices: [],
    },
  }),
  "PUT /llm-keys/{key_id}": async (world) => ({
    path: { key_id: await world.newLlmKey() },
    body: { name: world.name(), prices: [{ model: "echo*", input_per_million: 1.5, output_per_million: 6 }] },
  }),
  "DELETE /llm-keys/{key_id}": async (world) => ({ path: { key_id: await world.newLlmKey() } }),
  "GET /llm-keys/{key_id}/models": ({ ids }) => ({ path: { key_id: ids.llmKey } }),

  "GET /platform-keys": () => page,
  "POST /platform-keys": ({ name }) => ({ body: { name: name() } }),
  "DELETE /platform-keys/{key_id}": async ({ make, name }) => ({ path: { key_id: await make("/platform-keys", { name: name() }) } }),

  "GET /install/admins": ({ owner }) => ({ by: owner, ...page }),
  "POST /install/admins": async ({ owner, newPerson }) => ({
    by: owner,
    body: { email: (await newPerson()).email, accept_unverified: true },
  }),
  "DELETE /install/admins/{user_id}": async ({ owner, newPerson }) => {
    const { id, email } = await newPerson();
    await owner.api.post("/install/admins", { email, accept_unverified: true }, { status: 201 });
    return { by: owner, path: { user_id: id } };
  },

  "GET /projects": () => page,
  "POST /projects": ({ name }) => ({ body: { name: name(), slug: `s-${randomUUID()}` } }),
  "GET /projects/{project_id}": (world) => ({ path: inProject(world) }),
  "GET /projects/{project_id}/storage": (world) => ({ path: inProject(world) }),
  "PUT /projects/{project_id}": (world) => ({
    path: inProject(world),
    body: { name: world.name(), slug: `s-${randomUUID()}`, retention_days: 30 },
  }),
  "DELETE /projects/{project_id}": async ({ newProject }) => ({ path: { project_id: await newProject() } }),
  "GET /projects/{project_id}/members": (world) => ({ path: inProject(world), ...page }),
  "POST /projects/{project_id}/members": (world) => ({
    path: inProject(world),
    body: { email: `${randomUUID()}@example.com`, role: "viewer" },
  }),
  "DELETE /projects/{project_id}/members": async (world) => ({ path: inProject(world), query: { user_id: (await world.newMember()).id } }),

  "GET /agents": () => page,
  "POST /agents": (world) => ({ body: agentFields(world) }),
  "GET /agents/{agent_id}": ({ ids }) => ({ path: { agent_id: ids.agent } }),
  "PUT /agents/{agent_id}": async (world) => ({ path: await agent(world), body: agentFields(world) }),
  "DELETE /agents/{agent_id}": async (world) => ({ path: await agent(world) }),
  "POST /agents/{agent_id}/test": ({ ids }) => ({ path: { agent_id: ids.agent }, body: { message: "Hello" } }),
  "POST /agents/{agent_id}/chat": ({ ids }) => ({
    path: { agent_id: ids.agent },
    body: { message: "And now?", history: [{ role: "user", content: "Hi" }], stream: false },
  }),

  "GET /workflows": () => page,
  "POST /workflows": (world) => ({ body: { name: world.name(), description: "All", enabled: true, ...everyNode(world) } }),
  "GET /workflows/{workflow_id}": ({ ids }) => ({ path: { workflow_id: ids.workflow } }),
  "PUT /workflows/{workflow_id}": async (world) => ({
    path: { workflow_id: await world.newTrigger("manual") },
    body: { name: world.name(), description: "New", enabled: true, ...everyNode(world) },
  }),
  "DELETE /workflows/{workflow_id}": workflow(({ newTrigger }) => newTrigger("manual")),
  "POST /workflows/{workflow_id}/execute": ({ ids }) => ({ path: { workflow_id: ids.workflow }, body: { input: "Go" } }),
  "PUT /workflows/{workflow_id}/schedule": async ({ newTrigger }) => ({
    path: { workflow_id: await newTrigger("schedule", cron) },
    body: { enabled: true, ...cron },
  }),
  "GET /workflows/{workflow_id}/versions": ({ ids }) => ({ path: { workflow_id: ids.workflow }, ...page }),
  "GET /workflows/{workflow_id}/versions/{version}": ({ ids }) => ({ path: { workflow_id: ids.workflow, version: "1" } }),
  "PUT /workflows/{workflow_id}/versions/{version}": (world) => ({
    path: { workflow_id: world.ids.workflow, version: "1" },
    body: { name: world.name() },
  }),
  "GET /workflows/{workflow_id}/executions": ({ ids }) => ({ path: { workflow_id: ids.workflow }, query: { limit: "5" } }),

  "GET /workflows/{workflow_id}/export": ({ ids }) => ({ path: { workflow_id: ids.workflow }, query: { draft: "true" } }),
  "POST /workflows/import/check": (world) => ({ body: { file: workflowFile(world) } }),
  "POST /workflows/import": (world) => ({
    body: {
      file: workflowFile(world),
      links: {
        agents: [{ key: "writer", action: "use", agent_id: world.ids.agent }],
        mcp_servers: [],
        rag_sources: [{ name: "Handbook", rag_id: null }],
      },
      name: world.name(),
      enabled: false,
    },
  }),
  "GET /workflow-templates": () => ({}),

  "GET /executions": ({ ids }) => ({ query: { ...page.query, workflow_id: ids.workflow, status: "completed" } }),
  "GET /executions/{execution_id}": execution(({ ids }) => ids.execution),
  "GET /executions/{execution_id}/stream": execution(({ ids }) => ids.execution),
  "GET /executions/{execution_id}/logs": ({ ids }) => ({ path: { execution_id: ids.execution }, query: { node_id: "o", iteration: "" } }),
  "GET /executions/{execution_id}/nodes/{node_id}/output": ({ ids }) => ({
    path: { execution_id: ids.execution, node_id: "o" },
    query: { iteration: "" },
  }),
  "POST /executions/{execution_id}/approve": async ({ newPaused }) => ({
    path: { execution_id: await newPaused() },
    body: { decision: "approved", comment: "Good", node_id: "check", iteration: "" },
  }),
  "POST /executions/{execution_id}/cancel": execution(({ newPaused }) => newPaused()),
  "POST /executions/{execution_id}/rerun": ({ ids }) => ({
    path: { execution_id: ids.execution },
    body: { input: "Again", from_node_id: "o", use_current: false },
  }),

  "GET /reviews": ({ ids }) => ({ query: { ...page.query, status: "waiting", execution_id: ids.paused } }),
  "GET /reviews/{review_id}": ({ ids }) => ({ path: { review_id: ids.review } }),

  "POST /webhooks/setup/{workflow_id}": workflow(({ newTrigger }) => newTrigger("webhook")),
  "POST /webhooks/{workflow_id}": ({ ids, webhookSecret }) => ({
    path: { workflow_id: ids.webhook },
    body: { order: 7 },
    sign: (body) => ({ "x-service-signature": `sha256=${createHmac("sha256", webhookSecret).update(body).digest("hex")}` }),
  }),
  "GET /http/{workflow_id}": workflow(({ ids }) => ids.http),
  "POST /http/{workflow_id}": http,
  "PUT /http/{workflow_id}": http,
  "PATCH /http/{workflow_id}": http,
  "DELETE /http/{workflow_id}": http,

  "GET /rags": () => page,
  "POST /rags": ({ name, ids }) => ({
    body: { name: name(), type: "documents", config: { embedding_llm_key_id: ids.llmKey, embedding_model: "echo-embedding" } },
  }),
  "GET /rags/{rag_id}": ({ ids }) => ({ path: { rag_id: ids.rag } }),
  "PUT /rags/{rag_id}": async ({ newRag, name }) => ({ path: { rag_id: await newRag() }, body: { name: name(), config: {} } }),
  "DELETE /rags/{rag_id}": async ({ newRag }) => ({ path: { rag_id: await newRag() } }),
  "POST /rags/{rag_id}/test": ({ ids }) => ({ path: { rag_id: ids.rag } }),
  "GET /rags/{rag_id}/search": ({ ids }) => ({ path: { rag_id: ids.rag }, query: { query: "quiet", limit: "3" } }),
  "GET /rags/{rag_id}/documents": ({ ids }) => ({ path: { rag_id: ids.rag }, query: { ...page.query, status: "ready" } }),
  "POST /rags/{rag_id}/documents": ({ ids, name }) => ({ path: { rag_id: ids.rag }, body: { title: name(), text: `Words of ${name()}` } }),
  "GET /rags/{rag_id}/documents/{document_id}": ({ ids }) => ({ path: { rag_id: ids.rag, document_id: ids.document } }),
  "DELETE /rags/{rag_id}/documents/{document_id}": async ({ ids, newDocument }) => ({
    path: { rag_id: ids.rag, document_id: await newDocument() },
  }),
  "POST /rags/{rag_id}/documents/{document_id}/index": ({ ids }) => ({ path: { rag_id: ids.rag, document_id: ids.document } }),

  "GET /usage": () => ({ query: { from: "2026-11-01", to: "2026-11-30", group_by: "agent" } }),

  "GET /audit": ({ admin }) => ({
    query: {
      ...page.query,
      actor: admin.id,
      resource_type: "workflow",
      resource_id: admin.project.id,
      action: "workflow.create",
      from: "2026-01-01T00:00:00Z",
      to: "2036-01-01T00:00:00Z",
    },
  }),

  "GET /canvases": () => page,
  "POST /canvases": (world) => ({ body: { name: world.name(), widgets: widgets(world) } }),
  "GET /canvases/{canvas_id}": ({ ids }) => ({ path: { canvas_id: ids.canvas } }),
  "PUT /canvases/{canvas_id}": ({ ids, ...world }) => ({
    path: { canvas_id: ids.canvas },
    body: { name: world.name(), widgets: widgets({ ids }) },
  }),
  "DELETE /canvases/{canvas_id}": async ({ make, name }) => ({ path: { canvas_id: await make("/canvases", { name: name() }) } }),

  "GET /skills": () => page,
  "GET /skills/{skill_id}": ({ ids }) => ({ path: { skill_id: ids.skill } }),

  "GET /mcp": () => page,
  "POST /mcp": (world) => ({ body: mcpFields(world) }),
  "GET /mcp/{mcp_id}": ({ ids }) => ({ path: { mcp_id: ids.mcp } }),
  "PUT /mcp/{mcp_id}": (world) => ({ path: { mcp_id: world.ids.mcp }, body: mcpFields(world) }),
  "DELETE /mcp/{mcp_id}": async (world) => ({ path: { mcp_id: await world.make("/mcp", mcpFields(world)) } }),
  "POST /mcp/{mcp_id}/refresh": ({ ids }) => ({ path: { mcp_id: ids.mcp } }),
  "POST /mcp/discover": ({ mcpUrl }) => ({ body: { url: mcpUrl, transport: "streamable_http", headers: { "X-Order": "7" } } }),

  "GET /credentials": () => page,
  "POST /credentials": () => ({ body: { name: `C_${randomUUID().replaceAll("-", "_")}`, value: "not to be told" } }),
  "DELETE /credentials/{cred_id}": async ({ make }) => ({
    path: { cred_id: await make("/credentials", { name: `C_${randomUUID().replaceAll("-", "_")}`, value: "not to be told" }) },
  }),
};

/** What to do about the operations that have no row yet. */
export const missingRows = (operations: { name: string }[]): string[] =>
  operations.flatMap(({ name }) => (samples[name] ? [] : [`Add a request for ${name} to e2e/api/samples.ts.`]));

/** @throws Error that names the operation and this file, for one that has no row yet */
export function rowOf(operation: string): Row {
  const row = samples[operation];
  if (!row) throw new Error(`Add a request for ${operation} to e2e/api/samples.ts.`);
  return row;
}

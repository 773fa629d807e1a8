import { createHmac, randomUUID } from "node:crypto";
import type { Operation } from "#server/testing/api/operations.ts";
import { cron, everyNode, workflowFile } from "#server/testing/api/workflow-samples.ts";
import type { Person, World } from "#server/testing/api/world.ts";

// One well-formed request for every operation of the API: by default what the document itself shows. A row stands here for
// what needs more than that, and to say more than the document's examples do.

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

const putAside = async ({ newPerson, newPutAside }: World) => {
  const by = await newPerson();
  return { by, path: { put_aside_id: await newPutAside(by) } };
};
const newServiceAccount = ({ make, name }: World) => make("/service-accounts", { name: name(), role: "viewer" });
const newCanvas = ({ make, name }: World) => make("/canvases", { name: name() });

const samples: Record<string, Row> = {
  "DELETE /users/me": async ({ newPerson }) => {
    const by = await newPerson();
    return { by, query: { password: by.password, delete_projects: "true" } };
  },
  "DELETE /users/me/sessions/{session_id}": async ({ newPerson, newSession }) => {
    const by = await newPerson();
    return { by, path: { session_id: await newSession(by) } };
  },
  "DELETE /users/me/put-aside/{put_aside_id}": putAside,
  "POST /users/me/put-aside/{put_aside_id}/take-over": putAside,
  "GET /auth/password-reset/{token}": async ({ newPasswordReset }) => ({ path: { token: await newPasswordReset() } }),
  "POST /auth/password-reset/{token}": async ({ newPasswordReset }) => ({
    path: { token: await newPasswordReset() },
    body: { password: randomUUID() },
  }),
  "POST /auth/sign-up": () => ({ body: person(`${randomUUID()}@example.com`) }),
  "GET /invitations/{token}": async (world) => ({ path: { token: await world.newInvitation() } }),
  "POST /invitations/{token}/accept": async (world) => ({
    path: { token: await world.newInvitation() },
    body: { name: "Newcomer", password: randomUUID() },
  }),

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

  "POST /platform-keys": ({ name }) => ({ body: { name: name() } }),

  "GET /install/admins": ({ owner }) => ({ by: owner, ...page }),
  "POST /install/admins": async ({ owner, newPerson }) => ({
    by: owner,
    body: { email: (await newPerson()).email, accept_unverified: true },
  }),
  "DELETE /install/admins/{user_id}": async ({ owner, newPerson }) => {
    const { id, email } = await newPerson();
    await owner.call("POST", "/install/admins", { email, accept_unverified: true });
    return { by: owner, path: { user_id: id } };
  },

  "GET /install/mail": ({ owner }) => ({ by: owner }),
  "GET /install/people": ({ owner }) => ({ by: owner, query: { ...page.query, q: "robin" } }),
  "POST /install/people/{user_id}/password-link": async ({ owner, newPerson }) => ({
    by: owner,
    path: { user_id: (await newPerson()).id },
  }),
  "DELETE /install/people/{user_id}/second-factor": async ({ owner, newCareful }) => ({
    by: owner,
    path: { user_id: (await newCareful()).id },
  }),

  "POST /projects": ({ name }) => ({ body: { name: name(), slug: `s-${randomUUID()}` } }),
  "PUT /projects/{project_id}": (world) => ({
    path: inProject(world),
    body: { name: world.name(), slug: `s-${randomUUID()}`, retention_days: 30 },
  }),
  "DELETE /projects/{project_id}": async ({ newProject }) => ({ path: { project_id: await newProject() } }),
  "POST /projects/{project_id}/members": (world) => ({
    path: inProject(world),
    body: { email: `${randomUUID()}@example.com`, role: "viewer" },
  }),
  "DELETE /projects/{project_id}/members": async (world) => ({ path: inProject(world), query: { user_id: (await world.newMember()).id } }),

  "POST /projects/{project_id}/invitations/{invitation_id}/resend": async (world) => ({
    path: { ...inProject(world), invitation_id: await world.newOpenInvitation() },
  }),
  "DELETE /projects/{project_id}/invitations/{invitation_id}": async (world) => ({
    path: { ...inProject(world), invitation_id: await world.newOpenInvitation() },
  }),

  "POST /service-accounts": ({ name }) => ({ body: { name: name(), role: "viewer" } }),
  "PUT /service-accounts/{account_id}": async (world) => ({
    path: { account_id: await newServiceAccount(world) },
    body: { name: world.name(), role: "editor" },
  }),
  "GET /service-accounts/{account_id}/keys": async (world) => ({ path: { account_id: await newServiceAccount(world) } }),
  "POST /service-accounts/{account_id}/keys": async (world) => ({
    path: { account_id: await newServiceAccount(world) },
    body: { name: world.name() },
  }),
  "DELETE /service-accounts/{account_id}/keys/{key_id}": async (world) => {
    const account_id = await newServiceAccount(world);
    return { path: { account_id, key_id: await world.make(`/service-accounts/${account_id}/keys`, { name: world.name() }) } };
  },

  "POST /agents": (world) => ({ body: agentFields(world) }),
  "PUT /agents/{agent_id}": async (world) => ({ path: await agent(world), body: agentFields(world) }),
  "POST /agents/{agent_id}/test": ({ ids }) => ({ path: { agent_id: ids.agent }, body: { message: "Hello" } }),
  "POST /agents/{agent_id}/chat": ({ ids }) => ({
    path: { agent_id: ids.agent },
    body: { message: "And now?", history: [{ role: "user", content: "Hi" }], stream: false },
  }),

  "POST /agents/try": (world) => ({
    body: {
      config: { ...agentFields(world), tools: [], output_schema: null },
      agent_id: world.ids.agent,
      message: "Hello",
      history: [],
      stream: false,
    },
  }),
  "GET /agents/{agent_id}/versions/{version}": ({ ids }) => ({ path: { agent_id: ids.agent, version: "1" } }),
  "POST /agents/{agent_id}/versions/{version}/restore": async (world) => ({ path: { ...(await agent(world)), version: "1" } }),

  "POST /workflows": (world) => ({ body: { name: world.name(), description: "All", enabled: true, ...everyNode(world) } }),
  "PUT /workflows/{workflow_id}": async (world) => ({
    path: { workflow_id: await world.newTrigger("manual") },
    body: { name: world.name(), description: "New", enabled: true, ...everyNode(world) },
  }),
  "POST /workflows/bulk": async ({ newTrigger }) => ({ body: { action: "move", ids: [await newTrigger("manual")], folder: "Marketing" } }),
  "POST /workflows/folders/move": async ({ make, name }) => {
    const folder = name();
    await make("/workflows", { name: folder, folder });
    return { body: { folder, to: `${name()}/Weekly` } };
  },
  "POST /workflows/{workflow_id}/execute": ({ ids }) => ({ path: { workflow_id: ids.workflow }, body: { input: "Go" } }),
  "PUT /workflows/{workflow_id}/schedule": async ({ newTrigger }) => ({
    path: { workflow_id: await newTrigger("schedule", cron) },
    body: { enabled: true, ...cron },
  }),
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

  "GET /executions": ({ ids }) => ({ query: { ...page.query, workflow_id: ids.workflow, status: "completed" } }),
  "GET /executions/{execution_id}/logs": ({ ids }) => ({ path: { execution_id: ids.execution }, query: { node_id: "o", iteration: "" } }),
  "GET /executions/{execution_id}/nodes/{node_id}/output": ({ ids }) => ({
    path: { execution_id: ids.execution, node_id: "o" },
    query: { iteration: "" },
  }),
  "GET /bulk-actions/{bulk_id}": async ({ make, newPaused }) => ({
    path: { bulk_id: await make("/executions/bulk", { action: "cancel", ids: [await newPaused()] }) },
  }),
  "POST /bulk-actions/{bulk_id}/stop": async ({ make, newPaused }) => ({
    path: { bulk_id: await make("/executions/bulk", { action: "cancel", ids: [await newPaused()] }) },
  }),
  "POST /executions/bulk": async ({ newPaused }) => ({ body: { action: "cancel", ids: [await newPaused()] } }),
  "POST /executions/{execution_id}/approve": async ({ newPaused }) => ({
    path: { execution_id: await newPaused() },
    body: { decision: "approved", comment: "Good", node_id: "check", iteration: "" },
  }),
  "POST /executions/{execution_id}/cancel": execution(({ newPaused }) => newPaused()),
  "POST /executions/{execution_id}/fork": ({ ids }) => ({
    path: { execution_id: ids.execution },
    body: { from_node_id: "o" },
  }),
  "GET /executions/{execution_id}/compare/{other_id}": ({ ids }) => ({ path: { execution_id: ids.execution, other_id: ids.execution } }),
  "POST /executions/{execution_id}/rerun": ({ ids }) => ({
    path: { execution_id: ids.execution },
    body: { input: "Again", from_node_id: "o", use_current: false },
  }),

  "GET /reviews": ({ ids }) => ({ query: { ...page.query, status: "waiting", execution_id: ids.paused } }),

  "POST /reviews/decide": async ({ admin, newPaused }) => {
    const execution_id = await newPaused();
    const { items } = await admin.call("GET", `/reviews?execution_id=${execution_id}`);
    return { body: { answers: [{ review_id: items[0].id, decision: "approved", comment: "Good" }] } };
  },

  "POST /webhooks/setup/{workflow_id}": workflow(({ newTrigger }) => newTrigger("webhook")),
  "POST /webhooks/{workflow_id}": ({ ids, webhookSecret }) => ({
    path: { workflow_id: ids.webhook },
    body: { order: 7 },
    sign: (body) => ({ "x-service-signature": `sha256=${createHmac("sha256", webhookSecret).update(body).digest("hex")}` }),
  }),
  "GET /webhooks/{workflow_id}": async ({ newTrigger, admin }) => {
    const workflow_id = await newTrigger("webhook", { auth: "meta", verify_token: "token" });
    await admin.call("POST", `/webhooks/setup/${workflow_id}`, {});
    return { path: { workflow_id }, query: { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": "token" } };
  },
  "POST /resume/{token}": async ({ newCallback }) => ({ path: { token: await newCallback() }, body: { paid: true } }),
  "GET /http/{workflow_id}": workflow(({ ids }) => ids.http),
  "POST /http/{workflow_id}": http,
  "PUT /http/{workflow_id}": http,
  "PATCH /http/{workflow_id}": http,
  "DELETE /http/{workflow_id}": http,

  "POST /rags": ({ name, ids }) => ({
    body: { name: name(), type: "documents", config: { embedding_llm_key_id: ids.llmKey, embedding_model: "echo-embedding" } },
  }),
  "PUT /rags/{rag_id}": async ({ newRag, name }) => ({ path: { rag_id: await newRag() }, body: { name: name(), config: {} } }),
  "POST /rags/{rag_id}/test": ({ ids }) => ({ path: { rag_id: ids.rag } }),
  "GET /rags/{rag_id}/search": ({ ids }) => ({ path: { rag_id: ids.rag }, query: { query: "quiet", limit: "3" } }),
  "GET /rags/{rag_id}/documents": ({ ids }) => ({ path: { rag_id: ids.rag }, query: { ...page.query, status: "ready" } }),
  "POST /rags/{rag_id}/documents": ({ ids, name }) => ({ path: { rag_id: ids.rag }, body: { title: name(), text: `Words of ${name()}` } }),

  "PUT /budgets": ({ ids }) => ({
    body: {
      items: [
        { scope: "project", monthly_limit: 1000, action: "stop" },
        { scope: "llm_key", id: ids.llmKey, monthly_limit: 1000, action: "pause" },
      ],
    },
  }),
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

  "POST /canvases": (world) => ({ body: { name: world.name(), widgets: widgets(world) } }),
  "PUT /canvases/{canvas_id}": ({ ids, ...world }) => ({
    path: { canvas_id: ids.canvas },
    body: { name: world.name(), widgets: widgets({ ids }) },
  }),
  "GET /canvases/{canvas_id}/data.csv": async ({ ids, make, name }) => ({
    path: { canvas_id: await make("/canvases", { name: name(), widgets: widgets({ ids }) }) },
    query: { widget_id: "text", range: "7d" },
  }),
  "POST /canvases/{canvas_id}/share": async (world) => ({ path: { canvas_id: await newCanvas(world) }, body: { expires_in_days: 1 } }),
  "DELETE /canvases/{canvas_id}/share": async (world) => {
    const canvas_id = await newCanvas(world);
    await world.admin.call("POST", `/canvases/${canvas_id}/share`);
    return { path: { canvas_id } };
  },

  "POST /mcp": (world) => ({ body: mcpFields(world) }),
  "PUT /mcp/{mcp_id}": (world) => ({ path: { mcp_id: world.ids.mcp }, body: mcpFields(world) }),
  "POST /mcp/discover": ({ mcpUrl }) => ({ body: { url: mcpUrl, transport: "streamable_http", headers: { "X-Order": "7" } } }),

  "PUT /bridge/settings": ({ ids }) => ({ body: { llm_key_id: ids.llmKey, model: "echo" } }),
  "POST /bridge/threads": ({ ids, name }) => ({ body: { title: name(), workflow_id: ids.workflow } }),
  "PATCH /bridge/threads/{thread_id}": ({ ids, name }) => ({ path: { thread_id: ids.thread }, body: { title: name() } }),
  "DELETE /bridge/threads/{thread_id}": async ({ newThread }) => ({ path: { thread_id: await newThread() } }),
  "POST /bridge/threads/{thread_id}/messages": async ({ ids, mark, newThread }) => ({
    path: { thread_id: await newThread() },
    body: {
      content: mark,
      mode: "ask",
      context: {
        ...{ workflow_id: ids.workflow, execution_id: ids.execution, node_id: "o", canvas_id: ids.canvas },
        mentions: [{ kind: "agent", id: ids.agent }],
      },
    },
  }),
  "POST /bridge/threads/{thread_id}/stop": ({ ids }) => ({ path: { thread_id: ids.thread }, body: {} }),
  "POST /bridge/questions/{question_id}": async ({ newRequest }) => ({
    path: { question_id: await newRequest("question") },
    body: { answer: "Tuesday" },
  }),
  "POST /bridge/confirmations/{confirmation_id}": async ({ newRequest }) => ({
    path: { confirmation_id: await newRequest("confirmation") },
    body: { decision: "rejected" },
  }),
  "GET /bridge/proposals/{proposal_id}": async ({ newProposal }) => ({ path: { proposal_id: await newProposal() } }),
  "POST /bridge/proposals/{proposal_id}/accept": async ({ newProposal }) => ({
    path: { proposal_id: await newProposal() },
    body: { leave_out: ["o"] },
  }),
  "POST /bridge/proposals/{proposal_id}/reject": async ({ newProposal }) => ({ path: { proposal_id: await newProposal() } }),

  "POST /credentials": () => ({ body: { name: `C_${randomUUID().replaceAll("-", "_")}`, value: "not to be told" } }),
};

/** What a parameter of a path, or a field that ends so, names: an id of the world that stays. */
const known = ({ ids, admin }: World): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(ids).map(([kind, id]) => [`${kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_id`, id]),
  ),
  key_id: ids.llmKey,
  mcp_server_id: ids.mcp,
  project_id: admin.project.id,
  version: "1",
  node_id: "o",
});

/** A body as the document shows it, about what there is in the world, with a name of its own. */
function about(world: World, example: Json): Json {
  const ids = known(world);
  const text = JSON.stringify(example, (key, value) => (typeof value === "string" && key in ids ? ids[key] : value));
  return { ...JSON.parse(text), ...(typeof example.name === "string" && { name: world.name() }) };
}

/**
 * Makes a well-formed request for any operation of the document: its row of the table above, or what the document shows of it.
 * What stands at the end of the path of a DELETE, and what the world has none of, is made first, by the POST of its collection.
 */
export function samplerOf(operations: readonly Operation[]): (operation: Operation, world: World) => Promise<Sample> {
  const made = async (collection: string, world: World): Promise<string> => {
    const create = operations.find(({ method, path }) => method === "POST" && path === collection);
    if (!create)
      throw new Error(`Add a request for what is below ${collection} to server/testing/api/samples.ts: nothing there is made by a POST.`);
    const { path = {}, body = {} } = await sampleOf(create, world);
    return world.make(
      collection.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? ""),
      body,
    );
  };
  const sampleOf = async (operation: Operation, world: World): Promise<Sample> => {
    const row = samples[operation.name];
    if (row) return row(world);
    const { method, path, parameters, bodyExample } = operation;
    const sample: Sample = {};
    for (const { in: place, name, example } of parameters) {
      const shown = known(world)[name] ?? example;
      if (place === "query" && shown !== undefined) sample.query = { ...sample.query, [name]: String(shown) };
      if (place !== "path") continue;
      const isUsedUp = method === "DELETE" && path.endsWith(`/{${name}}`);
      const id = isUsedUp ? undefined : known(world)[name];
      sample.path = { ...sample.path, [name]: id ?? (await made(path.slice(0, path.indexOf(`/{${name}}`)), world)) };
    }
    return { ...sample, ...(bodyExample && { body: about(world, bodyExample) }) };
  };
  return sampleOf;
}

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeMcpServer, MCP_TOKEN, startMcpServer } from "#e2e/fakes/mcp-server.ts";
import type { Prisma } from "#prisma/generated/client.ts";
import { propose } from "#server/features/assistant/proposals.ts";
import { reviewToken } from "#server/features/reviews/link.ts";
import { openApiDocument } from "#server/http/openapi/document.ts";
import { compileRoutes } from "#server/http/rest/routes.ts";
import { appRouter, createCaller } from "#server/http/trpc/root.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { recipientToken } from "#server/platform/mail/recipients.ts";
import type { ApiContext } from "#server/platform/rpc/trpc.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { codeNow } from "#server/testing/authenticator.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { quickHash } from "#server/testing/quick-hash.ts";
import { collectEvents, newPausedRun, openReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Operation } from "#server/workflow/operations.ts";

// Every procedure that changes something is called, and must leave an entry in the audit log of the project: as below, or with
// the example that the API document shows of it. Exceptions have a reason.

const EXCEPTIONS: Record<string, string> = {
  "agents.test": "changes nothing",
  "mcp.discover": "changes nothing",
  "rags.test": "changes nothing",
  "mcp.refresh": "reads the server's tools again; nobody's decision",
  "workflowFiles.check": "changes nothing",
  "workflowFiles.importGraph": "makes no workflow; an agent that it makes is audited as any other",
  "workflows.saveDraft": "the editor's autosave; the version that a save makes of it is audited",
  "workflows.execute": "the execution is its own record, with who started it",
  "workflows.executeDraft": "the execution is its own record, with who started it",
  "webhooks.replay": "the execution is its own record, with who started it",
  "notifications.markRead": "personal",
  "security.requestPasswordReset": "anybody may ask for anybody; what is done with the link is audited",
  "security.beginSecondFactor": "nothing is on until it is confirmed, which is audited",
  "executions.saveView": "personal",
  "executions.deleteView": "personal",
  "assistant.createThread": "personal",
  "assistant.renameThread": "personal",
  "assistant.deleteThread": "personal",
  "assistant.send": "the thread is its own record; what the assistant does is audited as the person's, through the assistant",
  "assistant.stop": "the thread is its own record",
  "assistant.answer": "the thread is its own record",
  "assistant.rejectProposal": "personal: nothing of the project is changed",
  "assistant.decide": "the thread is its own record; what is done then is audited",
  "projects.delete": "the log goes with the project; the service's own log tells it",
};

const database = testDatabase();
const models = testModelServer();
let mcp: FakeMcpServer;
beforeAll(async () => {
  mcp = await startMcpServer();
  setSettings({ ALLOW_SIGNUP: "1" });
  collectEvents();
});
afterAll(() => mcp.stop());

const password = "correct horse battery";
const graph = (kind: string, more: object = {}) => ({
  nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind, ...more } }],
  edges: [],
});

async function world() {
  const admin = await database.newInstallAdmin();
  const { user: colleague } = await database.newAdmin();
  await db().user.update({ where: { id: admin.user.id }, data: { password_hash: await quickHash(password) } });
  const context = (principal: ProjectPrincipal): ApiContext => ({
    principal,
    address: "unknown",
    isOnThisMachine: true,
    project: async () => principal,
  });
  const api = createCaller(context(admin));
  const project_id = admin.project.id;
  const key = { name: "Key", provider: "openai_compatible" as const, api_key: "test-key-0123456789", base_url: models.url };
  const server = { name: "Server", url: `${mcp.url}/mcp`, headers: { authorization: `Bearer ${MCP_TOKEN}` } };
  const id = <Made extends { id: string }>(made: Promise<Made>) => made.then((resource) => resource.id);
  const agent = async () => id(api.agents.create({ name: "Agent", model: "echo", llm_key_id: await id(api.llmKeys.create(key)) }));
  const invite = async (email: string) =>
    (await api.projects.setMember({ project_id, email, role: "editor" })).invite_url?.split("/invite/")[1] ?? "";
  const waiting = async () => {
    const execution_id = await newPausedRun(admin);
    return { execution_id, ...(await openReview(execution_id, "a", { notification_email: "boss@example.com" })) };
  };
  const ended = async () => {
    const execution_id = await newPausedRun(admin);
    await db().execution.update({ where: { id: execution_id }, data: { status: "completed", completed_at: new Date() } });
    return execution_id;
  };
  const asked = async (data: Prisma.UserUpdateInput) => {
    const somebody = await database.newAdmin();
    await db().user.update({ where: { id: somebody.user.id }, data });
    return { user: somebody.user, api: createCaller(context(somebody)) };
  };
  /** Decides on a membership of the project that is put aside. */
  const putAside = async (decide: (api: ReturnType<typeof createCaller>, put_aside_id: string) => Promise<unknown>) => {
    const somebody = await asked({ email_verified_at: new Date() });
    const aside = { email: somebody.user.email, role: "viewer", token_hash: randomUUID(), put_aside_at: new Date() } as const;
    const expires_at = new Date("9999-12-31T00:00:00Z");
    const { id: put_aside_id } = await db().invitation.create({ data: { ...aside, project_id, expires_at } });
    return decide(somebody.api, put_aside_id);
  };
  return { admin, asked, putAside, colleague, context, api, project_id, key, server, id, agent, invite, waiting, ended };
}
type World = Awaited<ReturnType<typeof world>>;

/** How each is called, once what it needs is there; the last call is the one that is looked at. */
const CALLS: Record<string, [action: string, call: (world: World) => Promise<unknown>]> = {
  "agents.create": ["agent.create", ({ agent }) => agent()],
  "agents.update": ["agent.update", async ({ api, agent }) => api.agents.update({ agent_id: await agent(), description: "New" })],
  "agents.restore": ["agent.restore", async ({ api, agent }) => api.agents.restore({ agent_id: await agent(), version: 1 })],
  "agents.delete": ["agent.delete", async ({ api, agent }) => api.agents.delete({ agent_id: await agent() })],
  "install.nameAdmin": [
    "install_admin.add",
    ({ api, colleague }) => api.install.nameAdmin({ email: colleague.email, accept_unverified: true }),
  ],
  "install.removeAdmin": [
    "install_admin.remove",
    async ({ api, colleague }) => {
      await api.install.nameAdmin({ email: colleague.email, accept_unverified: true });
      return api.install.removeAdmin({ user_id: colleague.id });
    },
  ],
  "assistant.updateSettings": [
    "assistant.update",
    async ({ api, id, key }) => api.assistant.updateSettings({ llm_key_id: await id(api.llmKeys.create(key)), model: "echo" }),
  ],
  "assistant.acceptProposal": [
    "workflow.accept_proposal",
    async ({ admin, api, id }) => {
      const workflow_id = await id(api.workflows.create({ name: "Workflow" }));
      const thread = await db().assistantThread.create({ data: { project_id: admin.project.id, user_id: admin.user.id } });
      const message = await db().assistantMessage.create({ data: { thread_id: thread.id, content: "Name it", mode: "build" } });
      const place = { thread_id: thread.id, message_id: message.id };
      const operations: Operation[] = [{ op: "update_node", id: "trigger", data: { label: "Begin" } }];
      const proposal_id = await id(propose(admin, place, { workflow_id, summary: "Another name", operations }));
      return api.assistant.acceptProposal({ proposal_id });
    },
  ],
  "canvases.create": ["canvas.create", ({ api }) => api.canvases.create({ name: "Canvas" })],
  "canvases.update": [
    "canvas.update",
    async ({ api, id }) => api.canvases.update({ canvas_id: await id(api.canvases.create({ name: "Canvas" })), name: "New" }),
  ],
  "canvases.delete": [
    "canvas.delete",
    async ({ api, id }) => api.canvases.delete({ canvas_id: await id(api.canvases.create({ name: "Canvas" })) }),
  ],
  "canvases.share": [
    "canvas.share",
    async ({ api, id }) => api.canvases.share({ canvas_id: await id(api.canvases.create({ name: "C" })) }),
  ],
  "canvases.unshare": [
    "canvas.unshare",
    async ({ api, id }) => {
      const canvas_id = await id(api.canvases.create({ name: "Canvas" }));
      await api.canvases.share({ canvas_id });
      return api.canvases.unshare({ canvas_id });
    },
  ],
  "credentials.create": ["credential.create", ({ api }) => api.credentials.create({ name: "TOKEN", value: "secret value" })],
  "credentials.replace": [
    "credential.update",
    async ({ api, id }) =>
      api.credentials.replace({
        cred_id: await id(api.credentials.create({ name: "TOKEN", value: "secret value" })),
        value: "another value",
      }),
  ],
  "credentials.delete": [
    "credential.delete",
    async ({ api, id }) => api.credentials.delete({ cred_id: await id(api.credentials.create({ name: "TOKEN", value: "secret value" })) }),
  ],
  "executions.cancel": ["execution.cancel", async ({ api, waiting }) => api.executions.cancel(await waiting().then(onlyExecution))],
  "executions.approve": [
    "review.approve",
    async ({ api, waiting }) => api.executions.approve({ ...onlyExecution(await waiting()), decision: "approved" }),
  ],
  "reviews.decide": [
    "review.approve",
    async ({ api, waiting }) => api.reviews.decide({ answers: [{ review_id: (await waiting()).id, decision: "approved" }] }),
  ],
  "executions.rerun": ["execution.rerun", async ({ api, ended }) => api.executions.rerun({ execution_id: await ended() })],
  "executions.fork": ["execution.fork", async ({ api, ended }) => api.executions.fork({ execution_id: await ended() })],
  "executions.bulk": ["execution.bulk_delete", async ({ api, ended }) => api.executions.bulk({ action: "delete", ids: [await ended()] })],
  "executions.stopBulk": [
    "execution.stop_bulk",
    async ({ api, ended }) =>
      api.executions.stopBulk({ bulk_id: (await api.executions.bulk({ action: "delete", ids: [await ended()] })).id }),
  ],
  "reviews.decideByLink": [
    "review.reject",
    async ({ api, waiting }) =>
      api.reviews.decideByLink({ token: reviewToken((await waiting()).id, new Date(Date.now() + 60_000)), decision: "rejected" }),
  ],
  "emails.changeByLink": [
    "project.stop_emails",
    async ({ api, project_id }) => {
      const recipient = await db().emailRecipient.create({ data: { project_id, address: "pat@example.com" } });
      return api.emails.changeByLink({ token: recipientToken(recipient.id), choice: "stop" });
    },
  ],
  "identity.acceptInvitation": [
    "member.join",
    async ({ api, invite }) => api.identity.acceptInvitation({ token: await invite("joins@example.com"), name: "New", password }),
  ],
  "identity.declineInvitation": [
    "member.decline",
    async ({ invite, asked }) => {
      const { api, user } = await asked({ email_verified_at: new Date() });
      await invite(user.email);
      const [invitation] = (await api.identity.invitations({})).items;
      await api.identity.declineInvitation({ invitation_id: invitation?.id ?? "" });
    },
  ],
  "identity.resumeMemberships": [
    "member.join",
    async ({ admin, asked }) => {
      const { api, user } = await asked({});
      await db().invitation.create({
        data: {
          project_id: admin.project.id,
          email: user.email,
          role: "viewer",
          token_hash: randomUUID(),
          held_password_hash: await quickHash(password),
          expires_at: new Date("9999-12-31T00:00:00Z"),
        },
      });
      await api.identity.resumeMemberships({ password });
    },
  ],
  "identity.takeOver": ["member.join", async ({ putAside }) => putAside((api, put_aside_id) => api.identity.takeOver({ put_aside_id }))],
  "identity.leavePutAside": [
    "member.leave",
    async ({ putAside }) => putAside((api, put_aside_id) => api.identity.leavePutAside({ put_aside_id })),
  ],
  "identity.updateProfile": ["account.update", ({ api }) => api.identity.updateProfile({ name: "New name" })],
  "identity.changePassword": [
    "account.change_password",
    ({ api }) => api.identity.changePassword({ current_password: password, new_password: "another password" }),
  ],
  "identity.deleteAccount": [
    "member.leave",
    async ({ api, admin }) => {
      const { user } = await database.newAdmin();
      await addMember(admin, user, "admin");
      await api.identity.deleteAccount({ password });
    },
  ],
  "budgets.set": ["budget.update", ({ api }) => api.budgets.set({ items: [{ scope: "project", monthly_limit: 50, action: "pause" }] })],
  "budgets.setPrices": [
    "price.update",
    ({ api }) => api.budgets.setPrices({ items: [{ provider: "openai", model: "m", input_per_million: 1, output_per_million: 2 }] }),
  ],
  "security.resetPassword": [
    "account.reset_password",
    async ({ api, admin, asked }) => {
      const other = await asked({ is_install_admin: true });
      const { url } = await other.api.install.linkToNewPassword({ user_id: admin.user.id });
      await api.security.resetPassword({ token: url.split("/reset-password/")[1] ?? "", password: "another password" });
    },
  ],
  "security.endSession": [
    "account.end_session",
    async ({ api, admin }) => {
      const id = randomUUID();
      await db().session.create({ data: { id, user_id: admin.user.id, expires_at: new Date(Date.now() + 60_000) } });
      await api.security.endSession({ session_id: id });
    },
  ],
  "security.endOtherSessions": ["account.end_sessions", ({ api }) => api.security.endOtherSessions({})],
  "security.confirmSecondFactor": ["account.turn_on_second_factor", ({ api }) => careful(api)],
  "security.renewRecoveryCodes": [
    "account.renew_recovery_codes",
    async ({ api }) => api.security.renewRecoveryCodes({ password, code: await careful(api) }),
  ],
  "security.turnOffSecondFactor": [
    "account.turn_off_second_factor",
    async ({ api }) => api.security.turnOffSecondFactor({ password, code: await careful(api) }),
  ],
  "install.linkToNewPassword": [
    "account.make_password_link",
    ({ api, colleague }) => api.install.linkToNewPassword({ user_id: colleague.id }),
  ],
  "install.removeSecondFactor": [
    "account.remove_second_factor",
    async ({ api, colleague }) => {
      await db().secondFactor.create({ data: { user_id: colleague.id, sealed_secret: "sealed", confirmed_at: new Date() } });
      await api.install.removeSecondFactor({ user_id: colleague.id });
    },
  ],
  "serviceAccounts.create": ["service_account.create", ({ api }) => api.serviceAccounts.create(program)],
  "serviceAccounts.update": [
    "service_account.update",
    async ({ api, id }) => api.serviceAccounts.update({ account_id: await id(api.serviceAccounts.create(program)), role: "editor" }),
  ],
  "serviceAccounts.delete": [
    "service_account.delete",
    async ({ api, id }) => api.serviceAccounts.delete({ account_id: await id(api.serviceAccounts.create(program)) }),
  ],
  "serviceAccounts.createKey": [
    "service_account.create_key",
    async ({ api, id }) => api.serviceAccounts.createKey({ account_id: await id(api.serviceAccounts.create(program)), name: "Key" }),
  ],
  "serviceAccounts.deleteKey": [
    "service_account.delete_key",
    async ({ api, id }) => {
      const account_id = await id(api.serviceAccounts.create(program));
      const key_id = await id(api.serviceAccounts.createKey({ account_id, name: "Key" }));
      await api.serviceAccounts.deleteKey({ account_id, key_id });
    },
  ],
  "projects.resendInvitation": [
    "member.invite",
    async ({ api, project_id, invite }) => {
      await invite("again@example.com");
      const [open] = (await api.projects.invitations({ project_id })).items;
      await api.projects.resendInvitation({ project_id, invitation_id: open?.id ?? "" });
    },
  ],
  "projects.withdrawInvitation": [
    "member.uninvite",
    async ({ api, project_id, invite }) => {
      await invite("never@example.com");
      const [open] = (await api.projects.invitations({ project_id })).items;
      await api.projects.withdrawInvitation({ project_id, invitation_id: open?.id ?? "" });
    },
  ],
  "llmKeys.create": ["llm_key.create", ({ api, key }) => api.llmKeys.create(key)],
  "llmKeys.update": [
    "llm_key.update",
    async ({ api, key, id }) => api.llmKeys.update({ key_id: await id(api.llmKeys.create(key)), name: "New" }),
  ],
  "llmKeys.delete": ["llm_key.delete", async ({ api, key, id }) => api.llmKeys.delete({ key_id: await id(api.llmKeys.create(key)) })],
  "mcp.create": ["mcp_server.create", ({ api, server }) => api.mcp.create(server)],
  "mcp.update": [
    "mcp_server.update",
    async ({ api, server, id }) => api.mcp.update({ mcp_id: await id(api.mcp.create(server)), name: "New" }),
  ],
  "mcp.delete": ["mcp_server.delete", async ({ api, server, id }) => api.mcp.delete({ mcp_id: await id(api.mcp.create(server)) })],
  "platformKeys.create": ["platform_key.create", ({ api }) => api.platformKeys.create({ name: "Key" })],
  "platformKeys.delete": [
    "platform_key.delete",
    async ({ api, id }) => api.platformKeys.delete({ key_id: await id(api.platformKeys.create({ name: "Key" })) }),
  ],
  "projects.update": ["project.update", ({ api, project_id }) => api.projects.update({ project_id, retention_days: 30 })],
  "projects.setMember": ["member.invite", ({ invite }) => invite("guest@example.com")],
  "projects.removeMember": [
    "member.remove",
    async ({ api, admin, project_id }) => {
      const { user } = await database.newAdmin();
      await addMember(admin, user, "viewer");
      await api.projects.removeMember({ project_id, user_id: user.id });
    },
  ],
  "rags.create": ["rag.create", ({ api }) => api.rags.create({ name: "Source", type: "documents" })],
  "rags.update": [
    "rag.update",
    async ({ api, id }) => api.rags.update({ rag_id: await id(api.rags.create({ name: "Source", type: "documents" })), name: "New" }),
  ],
  "rags.delete": [
    "rag.delete",
    async ({ api, id }) => api.rags.delete({ rag_id: await id(api.rags.create({ name: "Source", type: "documents" })) }),
  ],
  "rags.addDocument": ["rag.add_document", ({ api, id }) => newDocument(api, id)],
  "rags.deleteDocument": ["rag.delete_document", async ({ api, id }) => api.rags.deleteDocument(await newDocument(api, id))],
  "rags.reindexDocument": [
    "rag.index_document",
    async ({ api, id }) => {
      const document = await newDocument(api, id);
      await db().ragDocument.update({ where: { id: document.document_id }, data: { status: "ready" } });
      await api.rags.reindexDocument(document);
    },
  ],
  "skills.create": ["skill.create", ({ api }) => api.skills.create(skill)],
  "skills.update": [
    "skill.update",
    async ({ api, id }) => api.skills.update({ skill_id: await id(api.skills.create(skill)), ...skill, prompt: "Other" }),
  ],
  "skills.delete": ["skill.delete", async ({ api, id }) => api.skills.delete({ skill_id: await id(api.skills.create(skill)) })],
  "webhooks.listen": [
    "webhook.listen",
    async ({ api, id }) => {
      const workflow_id = await id(api.workflows.create({ name: "Flow", ...graph("webhook") }));
      await api.webhooks.setup({ workflow_id });
      await api.webhooks.listen({ workflow_id, is_on: true });
    },
  ],
  "webhooks.setup": [
    "webhook.setup",
    async ({ api, id }) => api.webhooks.setup({ workflow_id: await id(api.workflows.create({ name: "Flow", ...graph("webhook") })) }),
  ],
  "workflows.create": ["workflow.create", ({ api }) => api.workflows.create({ name: "Flow" })],
  "workflowFiles.import": ["workflow.create", ({ api }) => api.workflowFiles.import({ file: graph("manual") })],
  "workflows.update": [
    "workflow.update",
    async ({ api, id }) => api.workflows.update({ workflow_id: await id(api.workflows.create({ name: "Flow" })), name: "New" }),
  ],
  "workflows.bulk": [
    "workflow.update",
    async ({ api, id }) => api.workflows.bulk({ action: "tag", ids: [await id(api.workflows.create({ name: "Flow" }))], tags: ["news"] }),
  ],
  "workflows.moveFolder": [
    "workflow.move_folder",
    async ({ api }) => {
      await api.workflows.create({ name: "Flow", folder: "Marketing" });
      await api.workflows.moveFolder({ folder: "Marketing", to: "Sales" });
    },
  ],
  "workflows.setSchedule": [
    "workflow.update",
    async ({ api, id }) => {
      const workflow_id = await id(api.workflows.create({ name: "Flow", ...graph("schedule", { cron_expression: "0 9 * * *" }) }));
      await api.workflows.setSchedule({ workflow_id, enabled: false });
    },
  ],
  "workflowVersions.name": [
    "workflow.name_version",
    async ({ api, id }) =>
      api.workflowVersions.name({ workflow_id: await id(api.workflows.create({ name: "Flow" })), version: 1, name: "First" }),
  ],
  "workflows.delete": [
    "workflow.delete",
    async ({ api, id }) => api.workflows.delete({ workflow_id: await id(api.workflows.create({ name: "Flow" })) }),
  ],
};

/** Those that begin a project, whose first entry they are. */
const BEGINNINGS: Record<string, (world: World) => Promise<unknown>> = {
  "projects.create": ({ api }) => api.projects.create({ name: "Begun" }),
  "identity.signUp": ({ api }) => api.identity.signUp({ email: "begun@example.com", name: "Begun", password }),
  "identity.setUp": async ({ api }) => {
    await db().user.updateMany({ data: { deleted_at: new Date() } });
    await api.identity.setUp({ email: "first@example.com", name: "First", password });
  },
};

const program = { name: "Nightly report", role: "viewer" } as const;

/** Turns the caller's second factor on. @returns one of the recovery codes */
async function careful(api: World["api"]): Promise<string> {
  const { secret } = await api.security.beginSecondFactor({ password });
  const { recovery_codes } = await api.security.confirmSecondFactor({ code: codeNow(secret) });
  return recovery_codes[0] ?? "";
}

const skill = { name: "Skill", description: "", prompt: "Do it.", model: "" };
const onlyExecution = ({ execution_id }: { execution_id: string }) => ({ execution_id });

async function newDocument(api: World["api"], id: World["id"]) {
  const rag_id = await id(api.rags.create({ name: "Source", type: "documents" }));
  return { rag_id, document_id: await id(api.rags.addDocument({ rag_id, title: "T", text: "Words" })) };
}

/** What is made for a field of this name, where a procedure is called by its example. */
const RESOURCES: Record<string, (world: World) => Promise<string> | string> = {
  agent_id: ({ agent }) => agent(),
  canvas_id: ({ api, id }) => id(api.canvases.create({ name: "Canvas" })),
  cred_id: ({ api, id }) => id(api.credentials.create({ name: "TOKEN", value: "secret value" })),
  execution_id: ({ ended }) => ended(),
  key_id: ({ api, id, key }) => id(api.llmKeys.create(key)),
  llm_key_id: ({ api, id, key }) => id(api.llmKeys.create(key)),
  mcp_id: ({ api, id, server }) => id(api.mcp.create(server)),
  project_id: ({ project_id }) => project_id,
  rag_id: ({ api, id }) => id(api.rags.create({ name: "Source", type: "documents" })),
  skill_id: ({ api, id }) => id(api.skills.create(skill)),
  workflow_id: ({ api, id }) => id(api.workflows.create({ name: "Flow" })),
};

const document = openApiDocument();

/** Calls a procedure of the REST API with what its document shows, on resources of this world. */
async function callByExample(procedure: string, scene: World): Promise<void> {
  const route = compileRoutes(appRouter).find((candidate) => candidate.procedure === procedure);
  if (!route) throw new Error(`Say in CALLS how ${procedure} is called, or among the exceptions why it leaves no entry.`);
  const body = document.paths[route.path]?.[route.method.toLowerCase()]?.requestBody?.content["application/json"]?.example;
  const input: Record<string, unknown> = { ...Object(body) };
  for (const name of Object.keys(route.fields)) {
    const isNeeded = name in input || route.path.includes(`{${name}}`);
    if (isNeeded && RESOURCES[name]) input[name] = await RESOURCES[name](scene);
  }
  const call = procedure.split(".").reduce<unknown>((at, name) => Reflect.get(Object(at), name), scene.api);
  await (call as (input: unknown) => Promise<unknown>)(input);
}

const mutations = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>)
  .filter(([, { _def }]) => _def.type === "mutation")
  .map(([path]) => path);

const special = [...Object.keys(CALLS), ...Object.keys(BEGINNINGS), ...Object.keys(EXCEPTIONS)];
for (const procedure of mutations.filter((name) => !special.includes(name)))
  CALLS[procedure] = [expect.stringMatching(/^[a-z_]+\.[a-z_]+$/), (scene) => callByExample(procedure, scene)];

test("what is called here, or is an exception, is there", () => {
  expect(mutations).toEqual(expect.arrayContaining(special));
});

test.each(Object.entries(CALLS))("%s leaves an entry", async (_, [action, call]) => {
  const scene = await world();
  await call(scene);
  const [entry] = await db().auditEntry.findMany({ where: { project_id: scene.project_id }, orderBy: { id: "desc" }, take: 1 });
  expect(entry).toMatchObject({ action });
  expect(entry?.resource_id).toBeTruthy();
  expect(JSON.stringify(entry)).not.toMatch(/secret value|another value|test-key-0123456789|correct horse|another password|mcp-token/);
});

test.each(Object.entries(BEGINNINGS))("%s is the first entry of its project", async (_, call) => {
  await call(await world());
  const newest = await db().project.findFirstOrThrow({ orderBy: { id: "desc" } });
  const entries = await db().auditEntry.findMany({ where: { project_id: newest.id } });
  expect(entries).toMatchObject([{ action: "project.create", resource_id: newest.id, actor_id: newest.owner_id }]);
});

import { randomUUID } from "node:crypto";
import { graphOf } from "#e2e/api/graphs.ts";
import { until } from "#e2e/until.ts";
import { sessionCookieName } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { type Door, send } from "#server/testing/api/send.ts";
import { type NewAccount, newAccount } from "#server/testing/new-account.ts";
import type { Graph } from "#server/workflow/schema.ts";

// One project with one of everything, and the people around it, for the tests that walk all operations of the API.

type Fields = Record<string, unknown>;

/** What JSON gives when nobody says what it should be. */
type Json = ReturnType<typeof JSON.parse>;

export interface Person extends NewAccount {
  /** Headers of his or her browser, on a page of ours. */
  browser: Record<string, string>;
  /** Sends a request with the platform key, about a project of theirs. @throws Error when it is refused */
  call(method: string, path: string, body?: Fields): Promise<Json>;
}

export interface World {
  /** Stands in the name of everything in the project: where it shows up, something of the project was told. */
  mark: string;
  admin: Person;
  editor: Person;
  approver: Person;
  viewer: Person;
  /** Admin of a project of his own, and in no other. */
  stranger: Person;
  /** Who set the install up, and so is its admin. */
  owner: Person;
  /** Ids of what stays. */
  ids: {
    llmKey: string;
    agent: string;
    workflow: string;
    /** Ended, with an output. */
    execution: string;
    /** Waits at its review `check`. */
    paused: string;
    review: string;
    webhook: string;
    http: string;
    mcp: string;
    canvas: string;
    skill: string;
    rag: string;
    document: string;
    /** Of the admin, with the assistant. */
    thread: string;
  };
  webhookSecret: string;
  /** Of an MCP server that answers. */
  mcpUrl: string;
  /** Ids of the same kinds of things in the stranger's project. */
  foreign: string[];
  /** A name of its own, with the mark. */
  name(): string;
  // Each makes another one, to be used up.
  newAgent(fields?: Fields): Promise<string>;
  newLlmKey(): Promise<string>;
  newWorkflow(graph: Pick<Graph, "nodes" | "edges">): Promise<string>;
  newTrigger(kind: string, data?: Fields): Promise<string>;
  /** An execution that waits at the review `check`. */
  newPaused(): Promise<string>;
  /** The token of an execution that waits for a call. */
  newCallback(): Promise<string>;
  newMember(): Promise<Person>;
  /** Somebody who has nothing to do with the project. */
  newPerson(): Promise<Person>;
  newInvitation(): Promise<string>;
  /** The id of an invitation that nobody has answered. */
  newOpenInvitation(): Promise<string>;
  /** A browser that the person is signed in with. */
  newSession(person: Person): Promise<string>;
  /** Id of a membership of the person that is put aside. */
  newPutAside(person: Person): Promise<string>;
  /** The token of a link that sets the password of somebody. */
  newPasswordReset(): Promise<string>;
  /** Somebody who has a second factor. */
  newCareful(): Promise<Person>;
  newRag(): Promise<string>;
  /** A project with the same people in the same roles. */
  newProject(): Promise<string>;
  newDocument(): Promise<string>;
  newThread(): Promise<string>;
  /** What a message of a thread of the admin waits for. */
  newRequest(kind: "question" | "confirmation"): Promise<string>;
  newProposal(): Promise<string>;
  /** Any other resource: posts the body and gives the id. */
  make(path: string, body: Fields): Promise<string>;
}

/** The token of an invitation's link. */
const tokenOf = (inviteUrl: unknown): string => String(inviteUrl).split("/invite/")[1] ?? "";

const oneOutput = (trigger: Fields): Pick<Graph, "nodes" | "edges"> => graphOf({ t: ["trigger", trigger], o: ["output"] }, ["t>o"]);

async function statusOf({ call }: Person, id: string, status: string): Promise<void> {
  await until(async () => (await call("GET", `/executions/${id}`)).status === status);
}

interface Addresses {
  door: Door;
  modelUrl: string;
  mcpUrl: string;
}

/** Needs a database of the test's own, that `db()` leads to, and a worker on it. */
export async function buildWorld({ door, modelUrl, mcpUrl }: Addresses): Promise<World> {
  const mark = `mark${randomUUID().slice(0, 8)}`;
  const name = () => `${mark} ${randomUUID()}`;
  const clientOf =
    (headers: Record<string, string>, base = "/api/v1"): Person["call"] =>
    async (method, path, body) => {
      const wire = { method, path, headers: { "content-type": "application/json" }, ...(body && { text: JSON.stringify(body) }) };
      const { status, text } = await send(door, wire, headers, base);
      if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 1000)}`);
      return JSON.parse(text);
    };
  const inProject = (account: NewAccount, project = account.project): Person => ({
    ...account,
    project,
    browser: { cookie: `${sessionCookieName(false)}=${account.session}`, origin: door.url, "x-project-id": project.id },
    call: clientOf({ authorization: `Bearer ${account.key}`, "x-project-id": project.id }),
  });
  const person = async () => inProject(await newAccount());
  const owner = await person();
  await db().user.update({ where: { id: owner.id }, data: { is_install_admin: true } });
  const admin = await person();
  const { call, project } = admin;
  /** Joins as somebody who opens the invitation's link in a browser that is signed in. */
  const join = (somebody: Person, inviteUrl: unknown) =>
    clientOf(somebody.browser)("POST", `/invitations/${tokenOf(inviteUrl)}/accept`, {});
  const withRole = async (role: Role) => {
    const somebody = await person();
    const { invite_url } = await call("POST", `/projects/${project.id}/members`, { email: somebody.email, role });
    await join(somebody, invite_url);
    return inProject(somebody, project);
  };

  const makeFor =
    (somebody: Person) =>
    async (path: string, body: Fields): Promise<string> =>
      (await somebody.call("POST", path, body)).id;
  const make = makeFor(admin);
  const llmKey = (to = make, called = name()) =>
    to("/llm-keys", { name: called, provider: "openai_compatible", api_key: "stand-in-key", base_url: modelUrl });
  const newWorkflow: World["newWorkflow"] = (graph) => make("/workflows", { name: name(), ...graph });
  const run = async (workflow: string): Promise<string> =>
    (await call("POST", `/workflows/${workflow}/execute`, { input: mark })).execution_id;
  const reviewed = graphOf({ t: ["trigger"], check: ["humanLoop", { title: mark }], o: ["output"] }, ["t>check", "check.approved>o"]);

  const [editor, approver, viewer] = [await withRole("editor"), await withRole("approver"), await withRole("viewer")];
  const stranger = await person();
  const key = await llmKey();
  const newAgent: World["newAgent"] = (fields) => make("/agents", { name: name(), llm_key_id: key, model: "echo", ...fields });
  const newTrigger: World["newTrigger"] = (kind, data) => newWorkflow(oneOutput({ kind, ...data }));
  const pausing = await newWorkflow(reviewed);
  const newPaused = async () => {
    const id = await run(pausing);
    await statusOf(admin, id, "paused");
    return id;
  };

  const calling = await newWorkflow(graphOf({ t: ["trigger"], w: ["wait", { mode: "callback" }], o: ["output"] }, ["t>w", "w.done>o"]));
  const newCallback = async () => {
    const id = await run(calling);
    const urlOf = async (): Promise<string | undefined> => (await call("GET", `/executions/${id}`)).node_results.w.resume_url;
    await until(async () => (await urlOf()) !== undefined);
    return (await urlOf())?.split("/resume/")[1] ?? "";
  };

  const newRag = () => make("/rags", { name: name(), type: "documents" });
  const rag = await newRag();
  const newDocument = () => make(`/rags/${rag}/documents`, { title: name(), text: `# ${name()}\n\nQuiet from ten in the evening.` });

  // Skills are read-only over REST, so this one is made as the web UI does.
  const newSkill = async (): Promise<string> => {
    const fields = { name: name(), description: mark, prompt: mark, model: "" };
    return (await clientOf(admin.browser, "/api/trpc")("POST", "/skills.create", fields)).result.data.id;
  };

  const bridge = clientOf(admin.browser, "/api/v1/bridge");
  await bridge("PUT", "/settings", { llm_key_id: key, model: "echo" });
  const newThread = async (): Promise<string> => (await bridge("POST", "/threads", { title: name() })).id;
  const newWaiting = async () => {
    const thread_id = await newThread();
    const data = { thread_id, content: mark, mode: "build", status: "waiting" } as const;
    return { thread_id, message_id: (await db().assistantMessage.create({ data })).id };
  };

  const ids = {
    llmKey: key,
    agent: await newAgent(),
    workflow: await newWorkflow(oneOutput({ kind: "manual" })),
    execution: "",
    paused: await newPaused(),
    review: "",
    webhook: await newTrigger("webhook"),
    http: await newTrigger("http", { allowed_methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], response_mode: "sync" }),
    mcp: await make("/mcp", { name: name(), url: mcpUrl }),
    canvas: await make("/canvases", { name: name() }),
    skill: await newSkill(),
    rag,
    document: await newDocument(),
    thread: await newThread(),
  };
  ids.execution = await run(ids.workflow);
  await statusOf(admin, ids.execution, "completed");
  ids.review = (await call("GET", `/reviews?execution_id=${ids.paused}`)).items[0].id;

  const abroad = makeFor(stranger);
  const foreignKey = await llmKey(abroad, "Foreign");
  const foreign = [
    foreignKey,
    await abroad("/agents", { name: "Foreign", llm_key_id: foreignKey, model: "echo" }),
    await abroad("/workflows", { name: "Foreign", ...oneOutput({ kind: "manual" }) }),
    stranger.project.id,
    stranger.id,
  ];
  return {
    mark,
    admin,
    editor,
    approver,
    viewer,
    stranger,
    owner,
    ids,
    webhookSecret: (await call("POST", `/webhooks/setup/${ids.webhook}`, {})).webhook_secret,
    mcpUrl,
    foreign,
    name,
    newAgent,
    newLlmKey: () => llmKey(),
    newWorkflow,
    newTrigger,
    newPaused,
    newCallback,
    newPerson: person,
    newRag,
    async newProject() {
      const id = await make("/projects", { name: name() });
      for (const [somebody, role] of [
        [editor, "editor"],
        [approver, "approver"],
        [viewer, "viewer"],
      ] as const) {
        const { invite_url } = await call("POST", `/projects/${id}/members`, { email: somebody.email, role });
        await join(somebody, invite_url);
      }
      return id;
    },
    newDocument,
    newThread,
    async newRequest(kind) {
      const request = { kind, call_id: "1-call", tool: kind === "question" ? "ask_user" : "decide_review", arguments: {} };
      return (await db().assistantRequest.create({ data: { ...(await newWaiting()), ...request } })).id;
    },
    async newProposal() {
      const graph = oneOutput({ kind: "manual" });
      const workflow_id = await newWorkflow(graph);
      const proposed = { base: { ...graph }, graph: { ...graph }, base_revision: 1, operations: [], summary: mark };
      return (await db().assistantProposal.create({ data: { ...(await newWaiting()), workflow_id, ...proposed } as never })).id; // cast: a graph is JSON
    },
    newMember: () => withRole("viewer"),
    async newOpenInvitation() {
      await call("POST", `/projects/${project.id}/members`, { email: `${randomUUID()}@example.com`, role: "viewer" });
      return (await call("GET", `/projects/${project.id}/invitations`)).items[0].id;
    },
    async newSession({ id: user_id }) {
      const { id } = await db().session.create({ data: { id: randomUUID(), user_id, expires_at: new Date(Date.now() + 60_000) } });
      return id;
    },
    async newPutAside({ email }) {
      const { project } = await person();
      const expires_at = new Date("9999-12-31T00:00:00Z");
      const row = {
        project_id: project.id,
        email,
        role: "editor",
        token_hash: randomUUID(),
        expires_at,
        put_aside_at: new Date(),
      } as const;
      return (await db().invitation.create({ data: row })).id;
    },
    async newPasswordReset() {
      const { id } = await person();
      return (await owner.call("POST", `/install/people/${id}/password-link`)).url.split("/reset-password/")[1];
    },
    async newCareful() {
      const somebody = await person();
      await db().secondFactor.create({ data: { user_id: somebody.id, sealed_secret: "sealed", confirmed_at: new Date() } });
      return somebody;
    },
    async newInvitation() {
      const invited = { email: `${randomUUID()}@example.com`, role: "viewer" };
      return tokenOf((await call("POST", `/projects/${project.id}/members`, invited)).invite_url);
    },
    make,
  };
}

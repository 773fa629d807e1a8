import { randomUUID } from "node:crypto";
import { graphOf } from "#e2e/api/graphs.ts";
import { join, tokenOf } from "#e2e/api/people.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { newPerson, type Person, personOf } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import type { Graph } from "#server/workflow/schema.ts";

// One project with one of everything, and the people around it, for the specs that walk all operations of the API.

type Fields = Record<string, unknown>;

export interface World {
  /** Stands in the name of everything in the project: where it shows up, something of the project was told. */
  mark: string;
  admin: Person;
  editor: Person;
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
  newMember(): Promise<Person>;
  /** Somebody who has nothing to do with the project. */
  newPerson(): Promise<Person>;
  newInvitation(): Promise<string>;
  newRag(): Promise<string>;
  /** A project with the same people in the same roles. */
  newProject(): Promise<string>;
  newDocument(): Promise<string>;
  /** Any other resource: posts the body and gives the id. */
  make(path: string, body: Fields): Promise<string>;
}

const oneOutput = (trigger: Fields): Pick<Graph, "nodes" | "edges"> => graphOf({ t: ["trigger", trigger], o: ["output"] }, ["t>o"]);

async function statusOf(api: ApiClient, id: string, status: string): Promise<void> {
  await until(async () => (await api.get(`/executions/${id}`)).body.status === status);
}

/** Skills are read-only over REST, so this one is made as the web UI does. */
async function newSkill({ browser, project }: Person, data: Fields): Promise<string> {
  const answer = await browser.post("/api/trpc/skills.create", { data, headers: { "x-project-id": project.id }, failOnStatusCode: true });
  return (await answer.json()).result.data.id;
}

interface Addresses {
  /** Of the product. */
  url: string;
  modelUrl: string;
  mcpUrl: string;
}

export async function buildWorld({ url, modelUrl, mcpUrl }: Addresses): Promise<World> {
  const mark = `mark${randomUUID().slice(0, 8)}`;
  const name = () => `${mark} ${randomUUID()}`;
  const person = async () => {
    const somebody = await newPerson(url);
    // Named in each request, so that a second project does not make them ambiguous.
    return { ...somebody, api: apiClient({ url, key: somebody.api.key, projectId: somebody.project.id }) };
  };
  const owner = await personOf(url, { email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" });
  const admin = await person();
  const { api, project } = admin;
  const withRole = async (role: Role) => {
    const somebody = await person();
    const { body } = await api.post(`/projects/${project.id}/members`, { email: somebody.email, role }, { status: 201 });
    await join(somebody.browser, body.invite_url);
    return { ...somebody, project, api: apiClient({ url, key: somebody.api.key, projectId: project.id }) };
  };

  const makeFor =
    (client: ApiClient) =>
    async (path: string, body: Fields): Promise<string> =>
      (await client.post(path, body, { status: 201 })).body.id;
  const make = makeFor(api);
  const llmKey = (to = make, called = name()) =>
    to("/llm-keys", { name: called, provider: "openai_compatible", api_key: "stand-in-key", base_url: modelUrl });
  const newWorkflow: World["newWorkflow"] = (graph) => make("/workflows", { name: name(), ...graph });
  const run = async (workflow: string): Promise<string> =>
    (await api.post(`/workflows/${workflow}/execute`, { input: mark }, { status: 202 })).body.execution_id;
  const reviewed = graphOf({ t: ["trigger"], check: ["humanLoop", { title: mark }], o: ["output"] }, ["t>check", "check.approved>o"]);

  const [editor, viewer, stranger] = [await withRole("editor"), await withRole("viewer"), await person()];
  const key = await llmKey();
  const newAgent: World["newAgent"] = (fields) => make("/agents", { name: name(), llm_key_id: key, model: "echo", ...fields });
  const newTrigger: World["newTrigger"] = (kind, data) => newWorkflow(oneOutput({ kind, ...data }));
  const pausing = await newWorkflow(reviewed);
  const newPaused = async () => {
    const id = await run(pausing);
    await statusOf(api, id, "paused");
    return id;
  };

  const newRag = () => make("/rags", { name: name(), type: "documents" });
  const rag = await newRag();
  const newDocument = () => make(`/rags/${rag}/documents`, { title: name(), text: `# ${name()}\n\nQuiet from ten in the evening.` });

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
    skill: await newSkill(admin, { name: name(), description: mark, prompt: mark, model: "" }),
    rag,
    document: await newDocument(),
  };
  ids.execution = await run(ids.workflow);
  await statusOf(api, ids.execution, "completed");
  ids.review = (await api.get(`/reviews?execution_id=${ids.paused}`)).body.items[0].id;

  const abroad = makeFor(stranger.api);
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
    viewer,
    stranger,
    owner,
    ids,
    webhookSecret: (await api.post(`/webhooks/setup/${ids.webhook}`, {}, { status: 200 })).body.webhook_secret,
    mcpUrl,
    foreign,
    name,
    newAgent,
    newLlmKey: () => llmKey(),
    newWorkflow,
    newTrigger,
    newPaused,
    newPerson: person,
    newRag,
    async newProject() {
      const id = await make("/projects", { name: name() });
      for (const { email, role, browser } of [
        { ...editor, role: "editor" },
        { ...viewer, role: "viewer" },
      ]) {
        const { body } = await api.post(`/projects/${id}/members`, { email, role }, { status: 201 });
        await join(browser, body.invite_url);
      }
      return id;
    },
    newDocument,
    newMember: () => withRole("viewer"),
    async newInvitation() {
      const { body } = await api.post(`/projects/${project.id}/members`, { email: `${randomUUID()}@example.com`, role: "viewer" });
      return tokenOf(body.invite_url);
    },
    make,
  };
}

import { type NewAgent, prepareAgent } from "#server/features/agents/service.ts";
import { credentialNames } from "#server/features/credentials/values.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { FileAgent, FileWorkflow, ImportLinks, WorkflowFile } from "#server/features/workflow-files/schema.ts";
import { agentIdsOf } from "#server/features/workflows/checks.ts";
import { validateModel } from "#server/llm/validate-model.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isAppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { agentNames } from "#server/runs/store/agent-names.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import { credentialsIn } from "#server/workflow/compiled-graph.ts";
import { RESERVED_NAMES } from "#server/workflow/expressions.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** What becomes of one agent of a file. */
export type AgentPlan = { key: string } & (
  | { action: "use"; agent_id: string }
  | { action: "open"; definition: FileAgent | undefined }
  | {
      action: "create";
      name: string;
      prepared: Pick<NewAgent, "data" | "abilities">;
      /** The definition with only those links that nothing here stands for, if any. */
      open: FileAgent | undefined;
    }
);

const MOST_CHARACTERS = 120;

/** The name, or with the first number that makes it free. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name.slice(0, MOST_CHARACTERS - 6)} ${number}`;
  taken.add(free);
  return free;
}

/** Says in an error which agent it is about. */
async function about<Result>(name: string, path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error)) throw error;
    const errors = (error.errors ?? []).map(({ path: field, message }) => ({ path: `${path}.${field}`, message }));
    throw new AppError(error.code, `Agent "${name}": ${error.message}`, { errors, cause: error });
  }
}

/** How many models are called at a time. */
const AT_ONCE = 8;

/** Calls each model once, however many agents are to use it. */
async function tryModels(agents: { name: string; path: string; trial: NewAgent["trial"] }[]): Promise<void> {
  const kindOf = ({ trial: { endpoint, choice } }: (typeof agents)[number]) => JSON.stringify([endpoint.keyName, choice]);
  const distinct = [...new Map(agents.map((agent) => [kindOf(agent), agent])).values()];
  for (let from = 0; from < distinct.length; from += AT_ONCE)
    await Promise.all(
      distinct
        .slice(from, from + AT_ONCE)
        .map(({ name, path, trial }) => about(name, path, () => validateModel(trial.endpoint, trial.choice))),
    );
}

/**
 * Decides about each agent of a file, and calls the models of those that are to be made. Writes nothing.
 * @param newSkills those that the import makes
 * @throws AppError VALIDATION_ERROR or UPSTREAM_ERROR that names the agent
 */
export async function planAgents(project_id: string, needs: Needs, links: Links, newSkills: readonly Existing[]): Promise<AgentPlan[]> {
  const rows = links.agents.size ? await db().agent.findMany({ where: { project_id }, select: { name: true } }) : [];
  const taken = new Set([...RESERVED_NAMES, ...rows.map(({ name }) => name)]);
  const trials: Parameters<typeof tryModels>[0] = [];
  const plans: AgentPlan[] = [];
  for (const { key, definition, existing } of needs.agents) {
    const { link, path } = links.agents.get(key) ?? { link: undefined, path: "" };
    if (link?.action === "use") plans.push({ key, action: "use", agent_id: link.agent_id.toLowerCase() });
    else if (!link && existing) plans.push({ key, action: "use", agent_id: existing.id });
    else if (link?.action !== "create" || !definition) plans.push({ key, action: "open", definition });
    else {
      const { mcp_servers, rag_sources, skills, ...fields } = definition;
      const model = link.model ?? definition.model;
      if (model === "") {
        const message = `Agent "${definition.name}": the file names no model for it. Choose one.`;
        throw invalidField(`${path}.model`, message);
      }
      const ids = (names: readonly string[], idOf: (name: string) => string | null | undefined) =>
        names.flatMap((name) => idOf(name) ?? []);
      const { trial, data, abilities } = await about(definition.name, path, () =>
        prepareAgent(project_id, {
          ...fields,
          llm_key_id: link.llm_key_id,
          model,
          mcp_server_ids: ids(mcp_servers, (name) => links.mcp_servers.get(name)),
          rag_ids: ids(rag_sources, (name) => links.rag_sources.get(name)),
          skill_ids: ids(skills, (name) => needs.skills.get(name)?.id),
        }),
      );
      const made = ids(skills, (name) => newSkills.find((skill) => skill.name === name)?.id);
      const name = freeName(definition.name, taken);
      const open = {
        ...definition,
        mcp_servers: mcp_servers.filter((server) => !links.mcp_servers.get(server)),
        rag_sources: rag_sources.filter((source) => !links.rag_sources.get(source)),
        skills: skills.filter((skill) => !needs.skills.get(skill) && !newSkills.some((one) => one.name === skill)),
      };
      const isOpen = open.mcp_servers.length + open.rag_sources.length + open.skills.length > 0;
      plans.push({
        key,
        action: "create",
        name,
        prepared: { data, abilities: { ...abilities, skill_ids: [...abilities.skill_ids, ...made] } },
        open: isOpen ? open : undefined,
      });
      trials.push({ name: definition.name, path, trial });
    }
  }
  await tryModels(trials);
  return plans;
}

/** What stands here for what a file names, checked. */
export interface Links {
  agents: ReadonlyMap<string, { link: ImportLinks["agents"][number]; path: string }>;
  /** By the file's name; null stays open. */
  mcp_servers: ReadonlyMap<string, string | null>;
  rag_sources: ReadonlyMap<string, string | null>;
}

const none: ImportLinks = { agents: [], mcp_servers: [], rag_sources: [] };

/** Links by the name that they are for; whatever is twice or in no file is a fault. */
function byName<Link>(
  path: string,
  links: readonly Link[],
  nameOf: (link: Link) => string,
  known: readonly string[],
  errors: FieldError[],
) {
  const found = new Map<string, { link: Link; path: string }>();
  for (const [index, link] of links.entries()) {
    const name = nameOf(link);
    const at = `${path}.${index}`;
    if (!known.includes(name)) errors.push({ path: at, message: `The file needs no "${name}" here. Take this link out.` });
    else if (found.has(name)) errors.push({ path: at, message: `"${name}" is linked twice. Keep one of the two.` });
    else found.set(name, { link, path: at });
  }
  return found;
}

const uuids = (ids: (string | null)[]): string[] => ids.filter((id) => id !== null).filter(isUuid);

/**
 * What was chosen for a file, and for the rest what is here under the same name.
 * @throws AppError VALIDATION_ERROR for links to what the project or the file does not have
 */
export async function planLinks(
  project_id: string,
  needs: Needs,
  { agents, mcp_servers, rag_sources }: ImportLinks = none,
): Promise<Links> {
  const errors: FieldError[] = [];
  const agentLinks = byName(
    "links.agents",
    agents,
    ({ key }) => key,
    needs.agents.map(({ key }) => key),
    errors,
  );
  const servers = byName("links.mcp_servers", mcp_servers, ({ name }) => name, [...needs.mcp_servers.keys()], errors);
  const sources = byName("links.rag_sources", rag_sources, ({ name }) => name, [...needs.rag_sources.keys()], errors);
  const chosen = (ids: (string | null)[]) => ({ where: { project_id, id: { in: uuids(ids) } }, select: { id: true } });
  const [knownAgents, knownServers, knownSources] = await Promise.all([
    agentNames(
      project_id,
      agents.flatMap((link) => (link.action === "use" ? [link.agent_id] : [])),
    ),
    db().mcpServer.findMany(chosen(mcp_servers.map(({ mcp_id }) => mcp_id))),
    db().ragSource.findMany(chosen(rag_sources.map(({ rag_id }) => rag_id))),
  ]);
  const unknown = (path: string, what: string, id: string) =>
    errors.push({ path, message: `There is no ${what} ${JSON.stringify(id)} in this project. Choose another, or leave it open.` });
  for (const { link, path } of agentLinks.values()) {
    const need = needs.agents.find(({ key }) => key === link.key);
    if (link.action === "use" && !knownAgents.has(link.agent_id.toLowerCase())) unknown(`${path}.agent_id`, "agent", link.agent_id);
    if (link.action === "create" && !need?.definition)
      errors.push({ path, message: `The file does not describe the agent "${link.key}", so it cannot be made. Choose one that is here.` });
  }
  const isThere = (rows: { id: string }[], id: string) => rows.some((row) => row.id === id.toLowerCase());
  for (const { link, path } of servers.values())
    if (link.mcp_id !== null && !isThere(knownServers, link.mcp_id)) unknown(`${path}.mcp_id`, "MCP server", link.mcp_id);
  for (const { link, path } of sources.values())
    if (link.rag_id !== null && !isThere(knownSources, link.rag_id)) unknown(`${path}.rag_id`, "RAG source", link.rag_id);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const settled = (list: Needs["mcp_servers"], choice: (name: string) => string | null | undefined) =>
    new Map([...list].map(([name, existing]) => [name, choice(name) === undefined ? (existing?.id ?? null) : (choice(name) ?? null)]));
  return {
    agents: agentLinks,
    mcp_servers: settled(needs.mcp_servers, (name) => servers.get(name)?.link.mcp_id),
    rag_sources: settled(needs.rag_sources, (name) => sources.get(name)?.link.rag_id),
  };
}

export interface Existing {
  id: string;
  name: string;
}

/** What a file needs around its graph, and what of it the project has. */
export interface Needs {
  agents: {
    /** As nodes name it: a key of the file, or an id where the file does not describe it. */
    key: string;
    definition: FileAgent | undefined;
    existing: Existing | undefined;
    /** Labels of the nodes that ask it. */
    nodes: string[];
  }[];
  /** By name. */
  mcp_servers: Map<string, Existing | undefined>;
  rag_sources: Map<string, Existing | undefined>;
  skills: Map<string, Existing | undefined>;
  /** Those of the file that its nodes run, with what is here under the name. */
  workflows: { definition: FileWorkflow; existing: Existing | undefined }[];
  credentials: { name: string; exists: boolean }[];
}

/** All nodes of a file, of the workflows too that its nodes run. */
const nodesOf = ({ nodes, requires }: WorkflowFile): Graph => ({
  nodes: [...nodes, ...(requires.workflows ?? []).flatMap((workflow) => workflow.nodes)],
  edges: [],
});

const workflowsNamed = (project_id: string, workflows: readonly FileWorkflow[]) =>
  ({
    where: { project_id, deleted_at: null, name: { in: workflows.map(({ name }) => name) } },
    select: { id: true, name: true },
    orderBy: { id: "asc" },
  }) as const;

type Many = "mcp_servers" | "rag_sources" | "skills";

/** Looks up by name what a file needs. */
export async function findNeeds(project_id: string, file: WorkflowFile): Promise<Needs> {
  const all = nodesOf(file);
  const keys = agentIdsOf(all);
  const children = file.requires.workflows ?? [];
  const defined = new Map(file.requires.agents.map((agent) => [agent.key, agent]));
  const used = keys.flatMap((key) => defined.get(key) ?? []);
  const wanted = (list: Many) => [...new Set(used.flatMap((agent) => agent[list]))];
  const select = { id: true, name: true } as const;
  const named = (list: readonly string[]) => ({ where: { project_id, name: { in: [...list] } }, select });
  const credentials = credentialsIn(all);
  const [byName, byId, servers, sources, skills, workflows, known] = await Promise.all([
    db().agent.findMany(named(used.map(({ name }) => name))),
    agentNames(
      project_id,
      keys.filter((key) => !defined.has(key)),
    ),
    db().mcpServer.findMany(named(wanted("mcp_servers"))),
    db().ragSource.findMany(named(wanted("rag_sources"))),
    db().skill.findMany(named(wanted("skills"))),
    children.length ? db().workflow.findMany(workflowsNamed(project_id, children)) : [],
    credentials.size ? credentialNames(project_id) : ([] as string[]),
  ]);
  const found = (list: Many, rows: Existing[]) => new Map(wanted(list).map((name) => [name, rows.find((row) => row.name === name)]));
  return {
    agents: keys.map((key) => {
      const definition = defined.get(key);
      const name = byId.get(key);
      return {
        key,
        definition,
        existing: definition ? byName.find((agent) => agent.name === definition.name) : name === undefined ? undefined : { id: key, name },
        nodes: all.nodes.filter((node) => node.data.agent_id === key).map(labelOf),
      };
    }),
    mcp_servers: found("mcp_servers", servers),
    rag_sources: found("rag_sources", sources),
    skills: found("skills", [...skills, ...builtinSkills]),
    workflows: children.map((definition) => ({ definition, existing: workflows.find(({ name }) => name === definition.name) })),
    credentials: [...credentials].map((name) => ({ name, exists: known.includes(name) })),
  };
}

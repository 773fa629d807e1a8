import type { ImportCheck, ImportLinks } from "#server/features/workflow-files/schema.ts";

/** What stands for an agent of the file: an agent's id, or one of these two. */
export const CREATE_AGENT = "create";
export const LEAVE_OPEN = "open";

/** What somebody chose in the check list. */
export interface ImportChoices {
  name: string;
  /** LLM key of the agents that are made; empty: none chosen. */
  keyId: string;
  /** Model of the agents that are made; empty: as the file says. */
  model: string;
  /** By key of the file: CREATE, OPEN or the id of an agent here. */
  agents: Readonly<Record<string, string>>;
  /** By name in the file: OPEN or an id. */
  servers: Readonly<Record<string, string>>;
  sources: Readonly<Record<string, string>>;
}

interface Key {
  id: string;
  provider: string;
}

/** What fits best: what is here under the same name, else new agents with a key of the kind that the file was made with. */
export function defaultChoices(check: ImportCheck, keys: readonly Key[]): ImportChoices {
  const wanted = check.agents.find(({ provider }) => provider !== null)?.provider;
  const key = keys.find(({ provider }) => provider === wanted) ?? keys[0];
  const byName = (list: ImportCheck["mcp_servers"]) =>
    Object.fromEntries(list.map(({ name, existing }) => [name, existing?.id ?? LEAVE_OPEN]));
  return {
    name: check.name,
    keyId: key?.id ?? "",
    model: "",
    agents: Object.fromEntries(
      check.agents.map(({ key: agent, existing, is_defined }) => [agent, existing?.id ?? (is_defined && key ? CREATE_AGENT : LEAVE_OPEN)]),
    ),
    servers: byName(check.mcp_servers),
    sources: byName(check.rag_sources),
  };
}

/** The agents of the file that are to be made. */
export const agentsToCreate = (check: ImportCheck, { agents }: Pick<ImportChoices, "agents">): ImportCheck["agents"] =>
  check.agents.filter(({ key }) => agents[key] === CREATE_AGENT);

/** The choices as the request takes them: servers and sources only of agents that are made. */
export function linksOf(check: ImportCheck, choices: ImportChoices): ImportLinks {
  const made = agentsToCreate(check, choices).map(({ name }) => name);
  const wanted = (list: ImportCheck["mcp_servers"]) => list.filter(({ agents }) => agents.some((name) => made.includes(name)));
  const idOf = (choice: string | undefined) => (choice === undefined || choice === LEAVE_OPEN ? null : choice);
  return {
    agents: check.agents.map(({ key }) => {
      const choice = choices.agents[key] ?? LEAVE_OPEN;
      if (choice === LEAVE_OPEN) return { key, action: "open" };
      if (choice !== CREATE_AGENT) return { key, action: "use", agent_id: choice };
      return { key, action: "create", llm_key_id: choices.keyId, ...(choices.model.trim() && { model: choices.model.trim() }) };
    }),
    mcp_servers: wanted(check.mcp_servers).map(({ name }) => ({ name, mcp_id: idOf(choices.servers[name]) })),
    rag_sources: wanted(check.rag_sources).map(({ name }) => ({ name, rag_id: idOf(choices.sources[name]) })),
  };
}

/** What is missing before the import can be sent, as a sentence. */
export function missingChoice(check: ImportCheck, choices: ImportChoices): string | null {
  const made = agentsToCreate(check, choices);
  if (choices.name.trim() === "") return "Give the workflow a name.";
  if (made.length === 0) return null;
  if (choices.keyId === "") return "Choose the LLM key of the new agents, or leave them open.";
  const bare = made.find(({ model }) => model === "");
  if (bare && choices.model.trim() === "") return `Choose a model: the file names none for “${bare.name}”.`;
  return null;
}

/** How much the import leaves open: agents, credentials that are missing, and links of agents that are made. */
export function countOpenItems(check: ImportCheck, choices: ImportChoices): number {
  const { agents, mcp_servers, rag_sources } = linksOf(check, choices);
  return (
    agents.filter(({ action }) => action === "open").length +
    mcp_servers.filter(({ mcp_id }) => mcp_id === null).length +
    rag_sources.filter(({ rag_id }) => rag_id === null).length +
    check.credentials.filter(({ exists }) => !exists).length
  );
}

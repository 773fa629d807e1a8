import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { FieldError } from "#server/schemas/error.ts";
import type { ImportLinks } from "#server/schemas/workflow-file.ts";
import { agentNames } from "#server/services/agents/agent-names.ts";
import { isUuid } from "#server/services/ids.ts";
import type { Needs } from "#server/services/workflow-files/find-needs.ts";

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

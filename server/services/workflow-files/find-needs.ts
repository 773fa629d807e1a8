import { db } from "#server/db/client.ts";
import { labelOf } from "#server/engine/graph.ts";
import { credentialsIn } from "#server/engine/node-facts.ts";
import type { FileAgent, WorkflowFile } from "#server/schemas/workflow-file.ts";
import { agentNames } from "#server/services/agents/agent-names.ts";
import { credentialNames } from "#server/services/credentials/credential-names.ts";
import { builtinSkills } from "#server/services/skills/builtin-skills.ts";
import { agentIdsOf } from "#server/services/workflows/graph-scope.ts";

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
  credentials: { name: string; exists: boolean }[];
}

type Many = "mcp_servers" | "rag_sources" | "skills";

/** Looks up by name what a file needs. */
export async function findNeeds(project_id: string, file: WorkflowFile): Promise<Needs> {
  const keys = agentIdsOf(file);
  const defined = new Map(file.requires.agents.map((agent) => [agent.key, agent]));
  const used = keys.flatMap((key) => defined.get(key) ?? []);
  const wanted = (list: Many) => [...new Set(used.flatMap((agent) => agent[list]))];
  const select = { id: true, name: true } as const;
  const named = (list: readonly string[]) => ({ where: { project_id, name: { in: [...list] } }, select });
  const credentials = credentialsIn(file);
  const [byName, byId, servers, sources, skills, known] = await Promise.all([
    db().agent.findMany(named(used.map(({ name }) => name))),
    agentNames(
      project_id,
      keys.filter((key) => !defined.has(key)),
    ),
    db().mcpServer.findMany(named(wanted("mcp_servers"))),
    db().ragSource.findMany(named(wanted("rag_sources"))),
    db().skill.findMany(named(wanted("skills"))),
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
        nodes: file.nodes.filter((node) => node.data.agent_id === key).map(labelOf),
      };
    }),
    mcp_servers: found("mcp_servers", servers),
    rag_sources: found("rag_sources", sources),
    skills: found("skills", [...skills, ...builtinSkills]),
    credentials: [...credentials].map((name) => ({ name, exists: known.includes(name) })),
  };
}

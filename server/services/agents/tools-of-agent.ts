import { db } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import type { Agent } from "#server/schemas/agent.ts";
import { knowledgeTool } from "#server/services/agents/knowledge-tool.ts";
import { readSearchCredentials } from "#server/services/credentials/search-credentials.ts";
import { isUuid } from "#server/services/ids.ts";
import { openAgentMcp } from "#server/services/mcp/open-agent-mcp.ts";
import { readSkills } from "#server/services/skills/read-skills.ts";
import type { AgentToolDefinition } from "#server/tools/tool.ts";
import { webScraperTool } from "#server/tools/web-scraper.ts";
import { webSearchTool } from "#server/tools/web-search.ts";

/** What an agent brings to a call besides its model. */
export interface AgentEquipment {
  tools: AgentToolDefinition[];
  /** The system prompt with the prompts of its skills after it; empty when there is neither. */
  systemPrompt: string;
  /** Ends what the tools hold open. Whoever asked for them must call this, however the call ended. */
  close(): void;
}

/** What an agent may use, as it is stored or as a form that is not saved yet has it. */
export interface Equipped extends Pick<Agent, "system_prompt" | "tools" | "mcp_server_ids" | "rag_ids" | "skill_ids"> {
  project_id: string;
}

/** The system prompt, then each skill under its name. */
async function promptOf({ project_id, system_prompt, skill_ids }: Equipped): Promise<string> {
  const found = skill_ids.length ? await readSkills(project_id, skill_ids) : [];
  return [system_prompt.trim() ? system_prompt : "", ...found.map(({ name, prompt }) => `# Skill: ${name}\n\n${prompt}`)]
    .filter(Boolean)
    .join("\n\n");
}

/** The built-in tools that are switched on. */
async function builtinTools({ project_id, tools }: Equipped): Promise<AgentToolDefinition[]> {
  const isOn = (tool: Agent["tools"][number]) => tools.includes(tool);
  return [
    ...(isOn("web_search") ? [webSearchTool(project_id, await readSearchCredentials(project_id))] : []),
    ...(isOn("web_scraper") ? [webScraperTool(project_id)] : []),
  ];
}

/** The search over the agent's RAG sources, as one tool. */
async function knowledgeTools({ project_id, rag_ids }: Equipped): Promise<AgentToolDefinition[]> {
  if (!rag_ids.length) return [];
  const where = { project_id, id: { in: rag_ids.filter(isUuid) } };
  const sources = await db().ragSource.findMany({ where, orderBy: { id: "asc" }, select: { id: true, name: true } });
  return sources.length ? [knowledgeTool(project_id, sources)] : [];
}

/**
 * Assembles the tools of an agent for one call, each under a name of its own. Nothing is connected before the model calls
 * a tool, so a server that is away fails that call only.
 */
export async function toolsOfAgent(agent: Equipped): Promise<AgentEquipment> {
  const [systemPrompt, ...own] = await Promise.all([promptOf(agent), builtinTools(agent), knowledgeTools(agent)]);
  const tools = own.flat();
  const mcp = agent.mcp_server_ids.length
    ? await openAgentMcp(agent.project_id, agent.mcp_server_ids, new Set(tools.map(({ name }) => name)))
    : { tools: [], close: async () => undefined };
  return {
    tools: [...tools, ...mcp.tools],
    systemPrompt,
    // Nobody waits for a goodbye.
    close: () =>
      void mcp.close().catch((error: unknown) => log.warn({ err: error, project_id: agent.project_id }, "an MCP session did not end well")),
  };
}

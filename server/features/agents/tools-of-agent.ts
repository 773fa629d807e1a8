import { knowledgeTool } from "#server/features/agents/knowledge-tool.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import { readSearchCredentials } from "#server/features/credentials/search-credentials.ts";
import { openAgentMcp } from "#server/features/mcp/open-agent-mcp.ts";
import { readSkills } from "#server/features/skills/read-skills.ts";
import type { AgentToolDefinition } from "#server/llm/tools/tool.ts";
import { webScraperTool } from "#server/llm/tools/web-scraper.ts";
import { webSearchTool } from "#server/llm/tools/web-search.ts";
import { db } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { isUuid } from "#server/platform/new-id.ts";

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

import { toAgent } from "#server/features/agents/find-agent.ts";
import { knowledgeTool } from "#server/features/agents/knowledge-tool.ts";
import { type Agent, type PromptPreview, type PromptPreviewInput, PromptPreviewMessage } from "#server/features/agents/schema.ts";
import { unsavedAgent } from "#server/features/agents/service.ts";
import { readSearchCredentials } from "#server/features/credentials/values.ts";
import { endpointOf } from "#server/features/llm-keys/stored-key.ts";
import { openAgentMcp } from "#server/features/mcp/agent-tools.ts";
import { readSkills } from "#server/features/skills/service.ts";
import { firstBody } from "#server/llm/chat.ts";
import type { ChatMessage, ChatQuestion } from "#server/llm/chat-body.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import type { AgentToolDefinition } from "#server/llm/tools/tool.ts";
import { webScraperTool } from "#server/llm/tools/web-scraper.ts";
import { webSearchTool } from "#server/llm/tools/web-search.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { isUuid } from "#server/platform/new-id.ts";

/** An agent as far as its model gets to know it: as it is stored, or as a form that is not saved yet has it. */
interface AskedAgent extends Equipped, Pick<Agent, "model" | "temperature" | "max_tokens" | "output_schema"> {
  endpoint: ModelEndpoint;
}

/** What is said in one call. */
interface SaidToAgent {
  message: string;
  /** Earlier turns, oldest first. */
  history?: readonly { role: "user" | "assistant"; content: string }[];
}

interface ComposedQuestion extends Pick<AgentEquipment, "close"> {
  question: ChatQuestion & Pick<AgentEquipment, "tools">;
}

/**
 * Puts together what an agent's model is asked: system prompt, skills, tools, the form of the answer, and what is said. A
 * call and the preview of one both come from here, so that a preview shows what is sent.
 * @returns the question, and `close`, which must be called however the call ended
 */
export async function composeQuestion(agent: AskedAgent, { message, history = [] }: SaidToAgent): Promise<ComposedQuestion> {
  const { endpoint, model, temperature, max_tokens, output_schema } = agent;
  const { tools, systemPrompt, close } = await toolsOfAgent(agent);
  const messages: ChatMessage[] = [
    ...(systemPrompt ? [{ role: "system" as const, content: systemPrompt }] : []),
    // A turn without text says nothing, and vendors refuse it, as they do blanks.
    ...history.filter(({ content }) => content.trim() !== ""),
    { role: "user", content: message },
  ];
  return { question: { endpoint, model, temperature, max_tokens, tools, answerSchema: output_schema, messages }, close };
}

/** What an agent brings to a call besides its model. */
interface AgentEquipment {
  tools: AgentToolDefinition[];
  /** The system prompt with the prompts of its skills after it; empty when there is neither. */
  systemPrompt: string;
  /** Ends what the tools hold open. Whoever asked for them must call this, however the call ended. */
  close(): void;
}

/** What an agent may use, as it is stored or as a form that is not saved yet has it. */
interface Equipped extends Pick<Agent, "system_prompt" | "tools" | "mcp_server_ids" | "rag_ids" | "skill_ids"> {
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
async function toolsOfAgent(agent: Equipped): Promise<AgentEquipment> {
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

/**
 * What the model of an agent would be sent, as the fields of its form stand. Calls nobody and writes nothing; the key itself
 * goes in a header and is no part of it.
 * @throws AppError VALIDATION_ERROR as when the agent is saved
 */
export async function previewPrompt({ project }: ProjectPrincipal, input: PromptPreviewInput): Promise<PromptPreview> {
  const row = await unsavedAgent(project.id, input, "");
  const agent = { ...toAgent(row), project_id: project.id, endpoint: endpointOf(row.llm_key) };
  const { question, close } = await composeQuestion(agent, { message: PromptPreviewMessage });
  try {
    // As in a run and in a chat, where the answer comes in pieces.
    const body = firstBody(question, true);
    const [first] = body.messages;
    return {
      system: first?.role === "system" && typeof first.content === "string" ? first.content : null,
      tools: question.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      response_format: body.response_format ? { ...body.response_format } : null,
      body: { ...body },
    };
  } finally {
    close();
  }
}

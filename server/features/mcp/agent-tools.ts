import { createHash } from "node:crypto";
import type { McpTools } from "#server/features/mcp/client/open-tools.ts";
import type { McpTool } from "#server/features/mcp/schema.ts";
import { mcpEndpointOf, storedTools } from "#server/features/mcp/service.ts";
import type { AgentToolDefinition } from "#server/llm/tools/tool.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

/** Longest name that every vendor takes. */
const MAX_NAME = 64;

const plain = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|(?<!_)_+$/g, "");

/** A name that vendors take: server and tool, cut with a mark of the whole where it is too long or lost letters. */
function modelName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const name = `${plain(server).toLowerCase() || "mcp"}__${plain(tool) || "tool"}`;
  if (name.length <= MAX_NAME && !taken.has(name)) return name;
  const mark = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, 8);
  return `${name.slice(0, MAX_NAME - mark.length - 1)}_${mark}`;
}

/**
 * The tools of a server as the chat loop takes them, without those that are switched off.
 * @param tools the list as it was stored: nothing is connected before the model calls one
 * @param taken names of the agent's other tools; the new ones are added
 */
function mcpToolDefinitions(
  server: { name: string; tools: readonly McpTool[]; disabledTools: readonly string[] },
  opened: McpTools,
  taken: Set<string> = new Set(),
): AgentToolDefinition[] {
  return server.tools
    .filter((tool) => !server.disabledTools.includes(tool.name))
    .map((tool) => {
      const name = modelName(server.name, tool.name, taken);
      taken.add(name);
      return {
        name,
        description: tool.description || `${tool.name} of ${server.name}`,
        parameters: tool.input_schema,
        call: (args, { signal }) => opened.call(tool.name, args, signal),
      };
    });
}

interface AgentMcp {
  tools: AgentToolDefinition[];
  /** Ends every session that a call opened; whoever opened this must call it, however the chat ended. */
  close(): Promise<void>;
}

/**
 * The tools of an agent's MCP servers for one chat or one node run. Nothing is connected before the model calls a tool,
 * so a server that is away fails that call only.
 * @param server_ids those that are gone are left out
 * @param taken names of the agent's other tools; those of the servers are added
 * @throws AppError INTERNAL_ERROR when headers were sealed under another ENCRYPTION_KEY
 */
export async function openAgentMcp(project_id: string, server_ids: readonly string[], taken: Set<string> = new Set()): Promise<AgentMcp> {
  const where = { project_id, id: { in: server_ids.filter(isUuid) } };
  const rows = await db().mcpServer.findMany({ where, orderBy: { id: "asc" } });
  // Loaded for the first agent that has such servers: the protocol's library would take a thirtieth of each start.
  const { openMcpTools } = await import("#server/features/mcp/client/open-tools.ts");
  const servers = rows.map((row) => ({ row, opened: openMcpTools(mcpEndpointOf(row)) }));
  return {
    tools: servers.flatMap(({ row, opened }) =>
      mcpToolDefinitions({ name: row.name, tools: storedTools(row), disabledTools: row.disabled_tools }, opened, taken),
    ),
    close: async () => {
      await Promise.all(servers.map(({ opened }) => opened.close()));
    },
  };
}

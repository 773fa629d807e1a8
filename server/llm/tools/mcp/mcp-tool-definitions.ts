import { createHash } from "node:crypto";
import type { McpToolInfo } from "#server/llm/tools/mcp/mcp-endpoint.ts";
import type { McpTools } from "#server/llm/tools/mcp/open-mcp-tools.ts";
import type { AgentToolDefinition } from "#server/llm/tools/tool.ts";

/** Longest name that every vendor takes. */
const MAX_NAME = 64;

const plain = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "");

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
export function mcpToolDefinitions(
  server: { name: string; tools: readonly McpToolInfo[]; disabledTools: readonly string[] },
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

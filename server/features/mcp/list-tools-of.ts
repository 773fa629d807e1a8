import type { McpTool } from "#server/features/mcp/schema.ts";
import type { McpEndpoint } from "#server/llm/tools/mcp/mcp-endpoint.ts";
import { openMcpTools } from "#server/llm/tools/mcp/open-mcp-tools.ts";
import { AppError } from "#server/platform/errors.ts";

/** Longest list that is kept, as JSON, in characters. */
const MAX_LIST = 2_000_000;

/**
 * Connects to a server, lists its tools and leaves it.
 * @throws AppError UPSTREAM_ERROR with a sentence that says what failed
 */
export async function listToolsOf(endpoint: McpEndpoint): Promise<McpTool[]> {
  const opened = openMcpTools(endpoint);
  try {
    const tools = await opened.list();
    if (JSON.stringify(tools).length > MAX_LIST)
      throw new AppError("UPSTREAM_ERROR", "The MCP server describes its tools at too great length (over 2 MB).");
    return tools;
  } finally {
    void opened.close();
  }
}

import { z } from "zod";
import type { McpServer as McpServerRow } from "#prisma/generated/client.ts";
import { type McpServer, type McpServerDetail, McpTool, McpTransport } from "#server/features/mcp/schema.ts";

type Shown = Omit<McpServerRow, "sealed_headers">;

/** The tools that were found when the server was last asked. */
export const storedTools = (row: Pick<McpServerRow, "tools">): McpTool[] => z.array(McpTool).catch([]).parse(row.tools);

/** A server as lists show it: names of headers, never their values. */
export const toMcpServer = (row: Shown): McpServer => ({
  id: row.id,
  name: row.name,
  url: row.url,
  transport: McpTransport.parse(row.transport),
  header_names: row.header_names,
  disabled_tools: row.disabled_tools,
  tool_count: Array.isArray(row.tools) ? row.tools.length : 0,
  last_seen_at: row.last_seen_at?.toISOString() ?? null,
  last_error: row.last_error,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** A server with its tools, as a single one is shown. */
export const toMcpServerDetail = (row: Shown): McpServerDetail => ({
  ...toMcpServer(row),
  tools: storedTools(row).map((tool) => ({ ...tool, enabled: !row.disabled_tools.includes(tool.name) })),
});

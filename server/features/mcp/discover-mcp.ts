import { checkMcpUrl } from "#server/features/mcp/check-mcp-url.ts";
import { listToolsOf } from "#server/features/mcp/list-tools-of.ts";
import type { DiscoverMcpInput, McpTools } from "#server/features/mcp/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { endpointReach } from "#server/platform/net/guard.ts";

/**
 * The tools of a server that is not connected; nothing is stored.
 * @throws AppError VALIDATION_ERROR for an address that may not be called, UPSTREAM_ERROR when the server fails
 */
export async function discoverMcp(principal: ProjectPrincipal, input: DiscoverMcpInput): Promise<McpTools> {
  const { url, transport = "streamable_http", headers = {} } = input;
  const isPrivateAllowed = await checkMcpUrl(principal, url);
  return { tools: await listToolsOf({ url, transport, headers, reach: endpointReach(isPrivateAllowed) }) };
}

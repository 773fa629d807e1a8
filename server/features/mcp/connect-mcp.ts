import type { Prisma } from "#prisma/generated/client.ts";
import { listToolsOf } from "#server/features/mcp/list-tools-of.ts";
import { sealHeaders } from "#server/features/mcp/mcp-endpoint-of.ts";
import type { McpEndpoint } from "#server/llm/tools/mcp/mcp-endpoint.ts";
import { endpointReach } from "#server/platform/net/guard.ts";

interface McpConnection extends Required<Omit<McpEndpoint, "reach" | "disabledTools">> {
  /** Whether its address may be private. */
  private_allowed: boolean;
}

/**
 * Connects to a server and lists its tools.
 * @returns what is stored of the connection
 * @throws AppError UPSTREAM_ERROR with a sentence that says what failed
 */
export async function connectMcp({ name, url, transport, headers, private_allowed }: McpConnection) {
  const tools = await listToolsOf({ name, url, transport, headers, reach: endpointReach(private_allowed) });
  return {
    url,
    transport,
    private_allowed,
    sealed_headers: sealHeaders(headers),
    header_names: Object.keys(headers),
    tools: tools as unknown as Prisma.InputJsonArray, // cast: JSON by construction
    last_seen_at: new Date(),
  };
}

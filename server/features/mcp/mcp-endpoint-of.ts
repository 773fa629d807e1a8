import { z } from "zod";
import type { McpServer as McpServerRow } from "#prisma/generated/client.ts";
import { McpTransport } from "#server/features/mcp/schema.ts";
import type { McpEndpoint } from "#server/llm/tools/mcp/mcp-endpoint.ts";
import { endpointReach } from "#server/platform/net/guard.ts";
import { seal, unseal } from "#server/platform/secrets.ts";

const Headers = z.record(z.string(), z.string());

/** Headers as they are stored; null when there are none. */
export const sealHeaders = (headers: Record<string, string>): string | null =>
  Object.keys(headers).length === 0 ? null : seal(JSON.stringify(headers));

/** @throws AppError INTERNAL_ERROR when they were sealed under another ENCRYPTION_KEY */
export const openHeaders = (sealed: string | null): Record<string, string> =>
  sealed === null ? {} : Headers.parse(JSON.parse(unseal(sealed)));

/**
 * A stored server, opened for calling. Keep the result inside the call: it holds secrets.
 * @throws AppError INTERNAL_ERROR when its headers were sealed under another ENCRYPTION_KEY
 */
export const mcpEndpointOf = (row: McpServerRow): McpEndpoint => ({
  name: row.name,
  url: row.url,
  transport: McpTransport.parse(row.transport),
  headers: openHeaders(row.sealed_headers),
  reach: endpointReach(row.private_allowed),
  disabledTools: row.disabled_tools,
});

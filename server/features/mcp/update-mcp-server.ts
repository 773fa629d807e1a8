import type { Prisma } from "#prisma/generated/client.ts";
import { checkMcpUrl } from "#server/features/mcp/check-mcp-url.ts";
import { connectMcp } from "#server/features/mcp/connect-mcp.ts";
import { findMcpServer } from "#server/features/mcp/find-mcp-server.ts";
import { toMcpServerDetail } from "#server/features/mcp/mcp-dto.ts";
import { mcpEndpointOf, openHeaders } from "#server/features/mcp/mcp-endpoint-of.ts";
import { assertMcpNameFree } from "#server/features/mcp/mcp-names.ts";
import type { McpServerDetail, UpdateMcpServerInput } from "#server/features/mcp/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { saveResource } from "#server/platform/names-in-use.ts";

type Headers = Record<string, string>;

const refuse = (path: string, message: string) => new AppError("VALIDATION_ERROR", message, { errors: [{ path, message }] });

/** The headers after the change, and whether any stored value is among them. */
function mergeHeaders(stored: Headers, given: UpdateMcpServerInput["headers"]): { headers: Headers; keepsStored: boolean } {
  if (given === undefined) return { headers: stored, keepsStored: Object.keys(stored).length > 0 };
  const old = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const headers: Headers = {};
  for (const [name, value] of Object.entries(given)) {
    const kept = value ?? old.get(name.toLowerCase());
    if (kept === undefined) throw refuse(`headers.${name}`, `No value is stored for the header ${name}. Enter one.`);
    headers[name] = kept;
  }
  return { headers, keepsStored: Object.values(given).includes(null) };
}

/** What a change of address, transport or headers means: checked and connected before anything is written. */
async function reconnected(principal: ProjectPrincipal, input: UpdateMcpServerInput, before: Awaited<ReturnType<typeof findMcpServer>>) {
  const endpoint = mcpEndpointOf(before);
  const { headers, keepsStored } = mergeHeaders(openHeaders(before.sealed_headers), input.headers);
  const { url = before.url, transport = endpoint.transport } = input;
  // Whoever may change the address must not get at the stored secrets by sending them elsewhere.
  if (keepsStored && new URL(url).origin !== new URL(before.url).origin)
    throw refuse("headers", "The address leads to another server now. Enter the header values again, or send headers as {}.");
  // What an install admin allowed stays so while the address stays. One who saves it vouches for it from then on.
  const isKept = url === before.url && before.private_allowed;
  const private_allowed = isKept || (await checkMcpUrl(principal, url));
  const name = input.name ?? before.name;
  return { ...(await connectMcp({ name, url, transport, headers, private_allowed })), last_error: null };
}

/**
 * Changes a server; fields left out keep their value. A change of address, transport or headers connects first.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR, CONFLICT and UPSTREAM_ERROR as at creation, and nothing is changed then
 */
export async function updateMcpServer(principal: ProjectPrincipal, input: UpdateMcpServerInput): Promise<McpServerDetail> {
  const project_id = principal.project.id;
  const before = await findMcpServer(project_id, input.mcp_id);
  const { name = before.name, disabled_tools } = input;
  if (name !== before.name) await assertMcpNameFree(project_id, name, before.id);
  const isElsewhere =
    (input.url !== undefined && input.url !== before.url) ||
    (input.transport !== undefined && input.transport !== before.transport) ||
    input.headers !== undefined;
  const data: Prisma.McpServerUpdateManyMutationInput = {
    name,
    ...(disabled_tools && { disabled_tools: [...new Set(disabled_tools)] }),
    ...(isElsewhere && (await reconnected(principal, input, before))),
  };
  const changed = (["name", "url", "transport", "headers", "disabled_tools"] as const).filter((field) => input[field] !== undefined);
  const record = { what: "an MCP server", name, action: "mcp_server.update", resource_type: "mcp_server", detail: { changed } };
  const row = await saveResource(principal, record, async (tx) => {
    const [saved] = await tx.mcpServer.updateManyAndReturn({ where: { id: before.id, project_id }, data });
    if (!saved) throw notFound("MCP server");
    return saved;
  });
  return toMcpServerDetail(row);
}

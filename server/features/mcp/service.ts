import { z } from "zod";
import { type McpServer as McpServerRow, Prisma } from "#prisma/generated/client.ts";
import type { McpEndpoint } from "#server/features/mcp/client/endpoint.ts";
import type { ListedTools } from "#server/features/mcp/client/open-tools.ts";
import {
  type CreateMcpServerInput,
  type DiscoverMcpInput,
  type McpServer,
  type McpServerDetail,
  McpTool,
  type McpTools,
  McpTransport,
  type UpdateMcpServerInput,
} from "#server/features/mcp/schema.ts";
import { deleteResource, namesInUse, nameTaken, saveResource } from "#server/platform/audit/resources.ts";
import { judgeAddress } from "#server/platform/auth/chosen-address.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError, invalidField, isAppError, notFound } from "#server/platform/errors.ts";
import { endpointReach } from "#server/platform/net/guard.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged } from "#server/platform/paging.ts";
import { seal, unseal } from "#server/platform/secrets.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { noteStored } from "#server/runs/store/space.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";

type Shown = Omit<McpServerRow, "sealed_headers">;

/** The tools that were found when the server was last asked. */
export const storedTools = (row: Pick<McpServerRow, "tools">): McpTool[] => z.array(McpTool).catch([]).parse(row.tools);

/** A server as lists show it: names of headers, never their values. */
const toMcpServer = (row: Shown): McpServer => ({
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
const toMcpServerDetail = (row: Shown): McpServerDetail => ({
  ...toMcpServer(row),
  tools: storedTools(row).map((tool) => ({ ...tool, enabled: !row.disabled_tools.includes(tool.name) })),
});

const HeaderValues = z.record(z.string(), z.string());
type HeaderValues = z.infer<typeof HeaderValues>;

/** Headers as they are stored; null when there are none. */
const sealHeaders = (headers: Record<string, string>): string | null =>
  Object.keys(headers).length === 0 ? null : seal(JSON.stringify(headers));

/** @throws AppError INTERNAL_ERROR when they were sealed under another ENCRYPTION_KEY */
export const openHeaders = (sealed: string | null): Record<string, string> =>
  sealed === null ? {} : HeaderValues.parse(JSON.parse(unseal(sealed)));

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

/**
 * The stored server, its sealed headers included.
 * @throws AppError NOT_FOUND, also for a server of another project
 */
export async function findMcpServer(project_id: string, mcp_id: string): Promise<McpServerRow> {
  const row = isUuid(mcp_id) ? await db().mcpServer.findFirst({ where: { id: mcp_id, project_id } }) : null;
  if (!row) throw notFound("MCP server");
  return row;
}

/**
 * Asks early, so that nobody waits for a connection only to hear that the name is taken.
 * @throws AppError CONFLICT
 */
async function assertMcpNameFree(project_id: string, name: string, exceptId?: string): Promise<void> {
  const where = { project_id, name, ...(exceptId && { id: { not: exceptId } }) };
  if (await db().mcpServer.findFirst({ where, select: { id: true } })) throw nameTaken("an MCP server", name);
}

/**
 * Refuses an address before anything is called: one with a password in it, and one that the caller may not choose.
 * @returns whether it may lead to a private network, because an install admin chose it
 * @throws AppError VALIDATION_ERROR at `url`
 */
async function checkMcpUrl(principal: ProjectPrincipal, address: string): Promise<boolean> {
  const url = new URL(address);
  if (url.username || url.password)
    throw invalidField("url", "Leave the user name and password out of the address; use an Authorization header.");
  if (url.hash) throw invalidField("url", "Give the address without what follows #.");
  const verdict = await judgeAddress(principal, url);
  if (verdict.refusal !== undefined) throw invalidField("url", verdict.refusal);
  return verdict.private_allowed;
}

/** Longest list that is kept, as JSON, in characters. */
const MAX_LIST = 2_000_000;

/**
 * Connects to a server, lists its tools and leaves it.
 * @throws AppError UPSTREAM_ERROR with a sentence that says what failed
 */
async function listToolsOf(endpoint: McpEndpoint): Promise<ListedTools> {
  const { openMcpTools } = await import("#server/features/mcp/client/open-tools.ts");
  const opened = openMcpTools(endpoint);
  try {
    const listed = await opened.list();
    if (JSON.stringify(listed.tools).length > MAX_LIST)
      throw new AppError("UPSTREAM_ERROR", "The MCP server describes its tools at too great length (over 2 MB).");
    return listed;
  } finally {
    void opened.close();
  }
}

interface McpConnection extends Required<Omit<McpEndpoint, "reach" | "disabledTools">> {
  /** Whether its address may be private. */
  private_allowed: boolean;
}

/**
 * Connects to a server and lists its tools.
 * @returns what is stored of the connection
 * @throws AppError UPSTREAM_ERROR with a sentence that says what failed
 */
async function connectMcp({ name, url, transport, headers, private_allowed }: McpConnection) {
  const { tools, missing = null } = await listToolsOf({ name, url, transport, headers, reach: endpointReach(private_allowed) });
  return {
    url,
    transport,
    private_allowed,
    sealed_headers: sealHeaders(headers),
    header_names: Object.keys(headers),
    tools: jsonColumn(tools),
    last_seen_at: new Date(),
    last_error: missing,
  };
}

/** The project's MCP servers, newest first. */
export async function listMcpServers(principal: ProjectPrincipal, input: ListInput): Promise<Page<McpServer>> {
  const from = Prisma.sql`mcp_servers x WHERE x.project_id = ${principal.project.id}::uuid`;
  const { total, ids } = await findPage(input, from, Prisma.sql`concat_ws(' ', x.name, x.url)`);
  const rows = await db().mcpServer.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" }, omit: { sealed_headers: true } });
  return paged(input, [total, rows], toMcpServer);
}

/**
 * One server of the project with the tools that it had when it was last asked.
 * @throws AppError NOT_FOUND
 */
export async function getMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<McpServerDetail> {
  return toMcpServerDetail(await findMcpServer(principal.project.id, mcp_id));
}

/**
 * Connects a server: lists its tools and stores it with them.
 * @throws AppError VALIDATION_ERROR (address), CONFLICT (name), UPSTREAM_ERROR when the server fails; nothing is saved then
 */
export async function createMcpServer(principal: ProjectPrincipal, input: CreateMcpServerInput): Promise<McpServerDetail> {
  const { name, url, transport = "streamable_http", headers = {}, disabled_tools = [] } = input;
  const project_id = principal.project.id;
  const private_allowed = await checkMcpUrl(principal, url);
  await assertMcpNameFree(project_id, name);
  await assertRoom(project_id);
  const connection = await connectMcp({ name, url, transport, headers, private_allowed });
  noteStored(project_id, "other", JSON.stringify(connection.tools).length);
  const data = { project_id, name, ...connection, disabled_tools: [...new Set(disabled_tools)] };
  const record = { what: "an MCP server", name, action: "mcp_server.create", resource_type: "mcp_server", detail: { transport } } as const;
  return toMcpServerDetail(await saveResource(principal, record, (tx) => tx.mcpServer.create({ data })));
}

/** The headers after the change, and whether any stored value is among them. */
function mergeHeaders(stored: HeaderValues, given: UpdateMcpServerInput["headers"]): { headers: HeaderValues; keepsStored: boolean } {
  if (given === undefined) return { headers: stored, keepsStored: Object.keys(stored).length > 0 };
  const old = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const headers: HeaderValues = {};
  for (const [name, value] of Object.entries(given)) {
    const kept = value ?? old.get(name.toLowerCase());
    if (kept === undefined) throw invalidField(`headers.${name}`, `No value is stored for the header ${name}. Enter one.`);
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
    throw invalidField("headers", "The address leads to another server now. Enter the header values again, or send headers as {}.");
  // What an install admin allowed stays so while the address stays. One who saves it vouches for it from then on.
  const isKept = url === before.url && before.private_allowed;
  const private_allowed = isKept || (await checkMcpUrl(principal, url));
  const name = input.name ?? before.name;
  return connectMcp({ name, url, transport, headers, private_allowed });
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
  const record = { what: "an MCP server", name, action: "mcp_server.update", resource_type: "mcp_server", detail: { changed } } as const;
  const row = await saveResource(principal, record, async (tx) => {
    const [saved] = await tx.mcpServer.updateManyAndReturn({ where: { id: before.id, project_id }, data });
    if (!saved) throw notFound("MCP server");
    return saved;
  });
  return toMcpServerDetail(row);
}

async function serverInUse(mcp_server_id: string): Promise<string | undefined> {
  const where = { mcp_servers: { some: { mcp_server_id } } };
  const agents = await db().agent.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return agents.length ? `The MCP server is used by ${namesInUse("agent", agents)}. Take it out there first.` : undefined;
}

/**
 * Disconnects a server of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents that use it
 */
export async function deleteMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<void> {
  const { id, name } = await findMcpServer(principal.project.id, mcp_id);
  const record = { action: "mcp_server.delete", resource_type: "mcp_server", resource_id: id, resource_name: name } as const;
  await deleteResource(
    principal,
    "MCP server",
    record,
    (tx) => tx.mcpServer.deleteMany({ where: { id } }),
    () => serverInUse(id),
  );
}

/**
 * Connects to a stored server again and takes over the tools that it has now. A failure is kept as `last_error`, the
 * tools stay as they were.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR when the server fails
 */
export async function refreshMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<McpServerDetail> {
  const before = await findMcpServer(principal.project.id, mcp_id);
  const write = async (data: Prisma.McpServerUpdateManyMutationInput) => {
    const { count } = await db().mcpServer.updateMany({ where: { id: before.id }, data });
    if (count === 0) throw notFound("MCP server");
  };
  const { tools, missing = null } = await listToolsOf(mcpEndpointOf(before)).catch(async (error: unknown) => {
    if (isAppError(error) && error.code === "UPSTREAM_ERROR") await write({ last_error: error.message });
    throw error;
  });
  await assertRoom(principal.project.id);
  await write({ tools: jsonColumn(tools), last_seen_at: new Date(), last_error: missing });
  return toMcpServerDetail(await findMcpServer(principal.project.id, mcp_id));
}

/**
 * The tools of a server that is not connected; nothing is stored.
 * @throws AppError VALIDATION_ERROR for an address that may not be called, UPSTREAM_ERROR when the server fails
 */
export async function discoverMcp(principal: ProjectPrincipal, input: DiscoverMcpInput): Promise<McpTools> {
  const { url, transport = "streamable_http", headers = {} } = input;
  const isPrivateAllowed = await checkMcpUrl(principal, url);
  return listToolsOf({ url, transport, headers, reach: endpointReach(isPrivateAllowed) });
}

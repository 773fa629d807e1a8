import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type FakeMcpServer, MCP_TOKEN, startMcpServer } from "#e2e/fakes/mcp-server.ts";
import { openAgentMcp } from "#server/features/mcp/agent-tools.ts";
import {
  createMcpServer,
  deleteMcpServer,
  discoverMcp,
  findMcpServer,
  mcpEndpointOf,
  refreshMcpServer,
  updateMcpServer,
} from "#server/features/mcp/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { serveOddMcp } from "#server/testing/odd-mcp-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { testKeyAuth } from "#server/testing/test-key-auth.ts";

const database = testDatabase();
let server: FakeMcpServer;
beforeAll(async () => {
  server = await startMcpServer();
});
afterEach(() => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "1", TREADLE_EMBEDDED_DATABASE: "0" });
  server.dropSessions();
});
afterAll(() => server.stop());

const { signal } = new AbortController();
const secret = { Authorization: `Bearer ${MCP_TOKEN}` };
const connect = (admin: ProjectPrincipal, more: object = {}) =>
  createMcpServer(admin, { name: "Shelf", url: `${server.url}/locked/mcp`, headers: secret, ...more });

async function agentWith(admin: ProjectPrincipal, ...servers: { id: string }[]): Promise<string> {
  const project_id = admin.project.id;
  const key = await db().llmKey.create({ data: { project_id, name: "Key", provider: "openai", sealed_key: "x", masked_key: "x" } });
  const mcp_servers = { create: servers.map(({ id }) => ({ mcp_server_id: id })) };
  const agent = await db().agent.create({ data: { project_id, name: "Scout", llm_key_id: key.id, model: "m", mcp_servers } });
  return agent.id;
}

test("headers are stored encrypted, and the audit log has no secret", async () => {
  const admin = await database.newAdmin();
  const made = await connect(admin);
  const row = await findMcpServer(admin.project.id, made.id);
  const audit = await db().auditEntry.findMany({ where: { project_id: admin.project.id, resource_type: "mcp_server" } });
  expect(audit).toMatchObject([{ action: "mcp_server.create", resource_id: made.id, resource_name: "Shelf", actor_id: admin.user.id }]);
  expect(JSON.stringify([row, audit, made])).not.toContain(MCP_TOKEN);
  expect(mcpEndpointOf(row).headers).toEqual(secret);
});

test("a server that an agent uses is not deleted, and the agent is named", async () => {
  const admin = await database.newAdmin();
  const made = await connect(admin);
  const agentId = await agentWith(admin, made);
  await expect(deleteMcpServer(admin, { mcp_id: made.id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: 'The MCP server is used by the agent "Scout". Take it out there first.',
  });
  await db().agent.delete({ where: { id: agentId } });
  await deleteMcpServer(admin, { mcp_id: made.id });
  expect(await db().mcpServer.count({ where: { project_id: admin.project.id } })).toBe(0);
});

test("an agent gets the tools that are switched on, and nothing is connected before one is called", async () => {
  const admin = await database.newAdmin();
  const shelf = await connect(admin, { disabled_tools: ["slow", "failing", "image", "resource", "headers", "break_off"] });
  const other = await connect(admin, {
    name: "My Shelf!",
    disabled_tools: ["slow", "failing", "image", "resource", "headers", "break_off", "add"],
  });
  server.dropSessions();
  const { tools, close } = await openAgentMcp(admin.project.id, [shelf.id, other.id], new Set(["shelf__echo"]));
  expect(tools.map(({ name }) => name)).toEqual([expect.stringMatching(/^shelf__echo_[0-9a-f]{8}$/), "shelf__add", "my_shelf__echo"]);
  expect(server.sessions()).toBe(0);
  await expect(tools[1]?.call({ a: 20, b: 22 }, { signal })).resolves.toEqual({ result: "42", success: true });
  expect(server.sessions()).toBe(1);
  await close();
  expect(server.sessions()).toBe(0);
});

test("an agent of another project gets none of them", async () => {
  const [admin, stranger] = [await database.newAdmin(), await database.newAdmin()];
  await expect(openAgentMcp(stranger.project.id, [(await connect(admin)).id])).resolves.toMatchObject({ tools: [] });
});

test("a private address is for install admins", async () => {
  const owner = await database.newInstallAdmin();
  const admin = await database.newAdmin();
  const owned: ProjectPrincipal = { ...owner, project: admin.project, role: "editor" };
  setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE: "1" });
  const made = await connect(owned);
  await expect(discoverMcp(admin, { url: made.url })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringMatching(/private network, which only install admins can save/),
  });
  await expect(connect(admin, { name: "Mine" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  // What the install admin chose goes on working for others, but they cannot point it elsewhere in that network.
  await expect(updateMcpServer(admin, { mcp_id: made.id, headers: secret, name: "Ours" })).resolves.toMatchObject({ name: "Ours" });
  await expect(updateMcpServer(admin, { mcp_id: made.id, url: `${server.url}/mcp` })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  // A key for some projects does not speak for the install, even when it is an install admin's.
  const confined: ProjectPrincipal = { ...owned, auth: testKeyAuth({ project_ids: [admin.project.id] }) };
  await expect(discoverMcp(confined, { url: made.url })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(discoverMcp({ ...owned, auth: testKeyAuth() }, { url: made.url, headers: secret })).resolves.toMatchObject({
    tools: expect.any(Array),
  });

  // Without leave, each call is refused where it connects.
  await db().mcpServer.update({ where: { id: made.id }, data: { private_allowed: false } });
  await expect(discoverMcp(admin, { url: made.url })).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "url" }] });
  const { tools, close } = await openAgentMcp(admin.project.id, [made.id]);
  await expect(tools[0]?.call({ text: "x" }, { signal })).resolves.toMatchObject({
    success: false,
    result: expect.stringContaining("private or reserved network"),
  });
  await close();
});

test("of two servers that take a name at once, one gets it", async () => {
  const admin = await database.newAdmin();
  const results = await Promise.allSettled([connect(admin), connect(admin)]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "CONFLICT" } });
});

test.each(['{"__proto__":null}', '{"__proto__":{"type":"string"}}', '{"$type":""}', '{"__prismaRawParameters__":true}'])(
  "a server may describe its tools as it likes: %s",
  async (properties) => {
    const inputSchema = { type: "object", properties: JSON.parse(properties) };
    const { url } = await serveOddMcp(() => ({ tools: [{ name: "odd", inputSchema }] }));
    const admin = await database.newAdmin();
    const made = await createMcpServer(admin, { name: "Odd", url });
    for (const { tools } of [made, await refreshMcpServer(admin, { mcp_id: made.id })])
      expect(JSON.stringify(Object(tools[0]?.input_schema).properties)).toBe(properties);
  },
);

test("a list of tools that breaks off keeps the tools that came", async () => {
  const admin = await database.newAdmin();
  const first = { tools: [{ name: "first" }], nextCursor: "two" };
  const { url } = await serveOddMcp(({ params }) => (params?.cursor === undefined ? first : { tools: "none" }));

  const made = await createMcpServer(admin, { name: "Odd", url: `${url}/mcp` });

  expect(made.tools.map(({ name }) => name)).toEqual(["first"]);
  expect(made.last_error).toContain("Page 2 of the list of tools is missing");
});

import { randomUUID } from "node:crypto";
import { MCP_TOKEN } from "#e2e/fakes/mcp-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { type McpProcess, startMcpProcess } from "#e2e/mcp-process.ts";
import { McpServerDetail, McpServerPage, McpTools } from "#server/features/mcp/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

let mcp: McpProcess;
test.beforeAll(async () => {
  mcp = await startMcpProcess();
});
test.afterAll(() => mcp.stop());

const secret = { Authorization: `Bearer ${MCP_TOKEN}` };
const nowhere = "http://127.0.0.1:1/mcp";
const open = (more: object = {}) => ({ name: "Shelf", url: `${mcp.url}/mcp`, ...more });

test("a server is connected with its tools, read, listed, changed and deleted", async ({ api }) => {
  const { body: made } = await api.post("/mcp", open(), { schema: McpServerDetail, status: 201 });
  expect(made).toMatchObject({
    name: "Shelf",
    transport: "streamable_http",
    header_names: [],
    disabled_tools: [],
    last_error: null,
    tool_count: 8,
  });
  expect(made.tools.find(({ name }) => name === "add")).toEqual({
    name: "add",
    description: "Adds two numbers.",
    input_schema: expect.objectContaining({ type: "object", required: ["a", "b"] }),
    enabled: true,
  });
  const { body: read } = await api.get(`/mcp/${made.id}`, { schema: McpServerDetail, status: 200 });
  expect(read).toEqual(made);
  const { body: page } = await api.get("/mcp", { schema: McpServerPage, status: 200 });
  const { tools: _, ...summary } = made;
  expect(page).toEqual({ items: [summary], total: 1, page: 1, per_page: 50 });

  const { body: changed } = await api.put(
    `/mcp/${made.id}`,
    { name: "Cupboard", disabled_tools: ["add", "add"] },
    { schema: McpServerDetail, status: 200 },
  );
  expect(changed).toMatchObject({ name: "Cupboard", url: made.url, disabled_tools: ["add"] });
  expect(changed.tools.filter(({ enabled }) => !enabled).map(({ name }) => name)).toEqual(["add"]);

  await api.del(`/mcp/${made.id}`, { status: 204 });
  await api.get(`/mcp/${made.id}`, { schema: ErrorBody, status: 404 });
  await api.del(`/mcp/${made.id}`, { schema: ErrorBody, status: 404 });
});

test("what a GET returned may be sent back, and any other key may not", async ({ api }) => {
  const { body: made } = await api.post("/mcp", open(), { status: 201 });
  await api.put(`/mcp/${made.id}`, { ...made, name: "Again" }, { schema: McpServerDetail, status: 200 });
  const { body } = await api.put(`/mcp/${made.id}`, { colour: "red" }, { status: 422 });
  expect(body.errors).toEqual([{ path: "colour", message: "There is no such field." }]);
});

test("both transports are spoken, and the header that was given travels", async ({ api }) => {
  for (const [transport, path] of [
    ["sse", "/locked/sse"],
    ["streamable_http", "/locked/mcp"],
  ]) {
    const { body } = await api.post(
      "/mcp",
      { name: `By ${transport}`, url: mcp.url + path, transport, headers: secret },
      { schema: McpServerDetail, status: 201 },
    );
    expect(body).toMatchObject({ transport, header_names: ["Authorization"], tool_count: 8 });
  }
});

test("header values are never returned, and stay when they are left out or null", async ({ api }) => {
  const { body: made } = await api.post("/mcp", { ...open(), url: `${mcp.url}/locked/mcp`, headers: secret }, { status: 201 });
  const path = `/mcp/${made.id}`;
  const answers = [
    made,
    (await api.get(path)).body,
    (await api.get("/mcp")).body,
    (await api.post(`${path}/refresh`, undefined, { status: 200 })).body,
    (await api.put(path, { transport: "sse", url: `${mcp.url}/locked/sse` }, { status: 200 })).body,
    (await api.put(path, { headers: { authorization: null, "X-Team": "north-team" } }, { status: 200 })).body,
  ];
  expect(answers.at(-1).header_names).toEqual(["authorization", "X-Team"]);
  expect(JSON.stringify(answers)).not.toMatch(new RegExp(`${MCP_TOKEN}|north-team`));

  const refused = await api.put(path, { headers: {} }, { status: 502 });
  expect(refused.body.detail).toContain("answered 401");
  expect((await api.get(path)).body.header_names).toEqual(["authorization", "X-Team"]);
});

test("stored header values are not sent to another server", async ({ api }) => {
  const { body: made } = await api.post("/mcp", { ...open(), url: `${mcp.url}/locked/mcp`, headers: secret }, { status: 201 });
  const elsewhere = await startMcpProcess();
  try {
    const url = `${elsewhere.url}/locked/mcp`;
    for (const more of [{}, { headers: { Authorization: null } }]) {
      const { body } = await api.put(`/mcp/${made.id}`, { url, ...more }, { status: 422 });
      expect(body.errors).toEqual([{ path: "headers", message: expect.stringContaining("Enter the header values again") }]);
    }
    expect(await elsewhere.state()).toEqual({ calls: [], sessions: 0 });
    await api.put(`/mcp/${made.id}`, { url, headers: secret }, { status: 200 });
  } finally {
    await elsewhere.stop();
  }
});

test("a server that fails is told in a sentence, and nothing is saved or changed", async ({ api }) => {
  const { body: gone } = await api.post("/mcp", open({ url: nowhere }), { status: 502 });
  expect(gone).toEqual({
    detail: 'The MCP server "Shelf" does not accept connections at 127.0.0.1:1. Check the address, and that the server runs.',
    error_code: "UPSTREAM_ERROR",
    status: 502,
  });
  const { body: locked } = await api.post("/mcp", open({ url: `${mcp.url}/locked/mcp` }), { status: 502 });
  expect(locked.detail).toContain("answered 401");
  expect((await api.get("/mcp")).body.total).toBe(0);

  const { body: made } = await api.post("/mcp", open(), { status: 201 });
  await api.put(`/mcp/${made.id}`, { name: "Other", url: nowhere }, { status: 502 });
  expect((await api.get(`/mcp/${made.id}`)).body).toEqual(made);
});

test("a refresh that fails is remembered, and the next one that works forgets it", async ({ api }) => {
  const other = await startMcpProcess();
  const { body: made } = await api.post("/mcp", open({ url: `${other.url}/mcp` }), { status: 201 });
  await other.stop();
  const { body: failed } = await api.post(`/mcp/${made.id}/refresh`, undefined, { status: 502 });
  const { body: after } = await api.get(`/mcp/${made.id}`, { schema: McpServerDetail });
  expect(after).toMatchObject({ last_error: failed.detail, tools: made.tools, last_seen_at: made.last_seen_at });
  const again = await startMcpProcess(Number(new URL(other.url).port));
  try {
    const { body: refreshed } = await api.post(`/mcp/${made.id}/refresh`, undefined, { schema: McpServerDetail, status: 200 });
    expect(refreshed).toMatchObject({ last_error: null, tool_count: 8 });
  } finally {
    await again.stop();
  }
});

test("discovery lists the tools of an address and saves nothing", async ({ api }) => {
  const { body } = await api.post(
    "/mcp/discover",
    { url: `${mcp.url}/locked/sse`, transport: "sse", headers: secret },
    { schema: McpTools, status: 200 },
  );
  expect(body.tools.map(({ name }) => name)).toContain("echo");
  const { body: failed } = await api.post("/mcp/discover", { url: nowhere }, { status: 502 });
  expect(failed.detail).toMatch(/^The MCP server at 127\.0\.0\.1:1 does not accept connections/);
  expect((await api.get("/mcp")).body.total).toBe(0);
});

test("a name is taken once", async ({ api }) => {
  await api.post("/mcp", open(), { status: 201 });
  const { body } = await api.post("/mcp", open(), { status: 409 });
  expect(body.detail).toContain('already has an MCP server named "Shelf"');
  const { body: second } = await api.post("/mcp", open({ name: "Second" }), { status: 201 });
  await api.put(`/mcp/${second.id}`, { name: "Shelf" }, { status: 409 });
});

const unusable: [string, object, string][] = [
  ["no address", { url: undefined }, "url"],
  ["an address that is none", { url: "shelf" }, "url"],
  ["another scheme", { url: "file:///etc/passwd" }, "url"],
  ["a password in the address", { url: "http://me:secret@127.0.0.1:1/mcp" }, "url"],
  ["a fragment in the address", { url: "http://127.0.0.1:1/mcp#tools" }, "url"],
  ["another transport", { transport: "stdio" }, "transport"],
  ["a header of the connection", { headers: { Host: "evil.example" } }, "headers.Host"],
  ["a header of the protocol", { headers: { "Mcp-Session-Id": "x" } }, "headers.Mcp-Session-Id"],
  ["a line break in a header", { headers: { "X-A": "a\r\nX-B: b" } }, "headers.X-A"],
  ["a blank in a header's name", { headers: { "X A": "a" } }, "headers.X A"],
  ["a header twice", { headers: { "X-A": "a", "x-a": "b" } }, "headers.x-a"],
  ["a header without a value", { headers: { "X-A": null } }, "headers.X-A"],
  ["an empty name", { name: " " }, "name"],
];
for (const [what, more, path] of unusable)
  test(`${what} is refused before anything is called`, async ({ api }) => {
    const { body } = await api.post("/mcp", open(more), { status: 422 });
    expect(body.errors.map((error: { path: string }) => error.path)).toContain(path);
  });

test("roles: a viewer reads, an editor also changes", async ({ api, newUser }) => {
  const [viewer, editor] = [await newUser({ role: "viewer" }), await newUser({ role: "editor" })];
  const { body: made } = await api.post("/mcp", open(), { status: 201 });
  const path = `/mcp/${made.id}`;
  expect((await viewer.api.get(path, { status: 200 })).body).toEqual(made);
  expect((await viewer.api.get("/mcp", { status: 200 })).body.total).toBe(1);
  for (const call of [
    viewer.api.post("/mcp", open({ name: "Mine" })),
    viewer.api.post("/mcp/discover", { url: made.url }),
    viewer.api.post(`${path}/refresh`),
    viewer.api.put(path, { name: "Mine" }),
    viewer.api.del(path),
  ])
    expect(await call).toMatchObject({ status: 403, body: { error_code: "PERMISSION_DENIED" } });
  expect((await api.get(path)).body).toEqual(made);

  await editor.api.put(path, { name: "Ours" }, { status: 200 });
  await editor.api.post(`${path}/refresh`, undefined, { status: 200 });
  await editor.api.del(path, { status: 204 });
});

test("an agent calls a tool of its server, which is then not deleted", async ({ api, agent }) => {
  const { body: made } = await api.post("/mcp", open({ disabled_tools: ["add"] }), { status: 201 });
  const scout = await agent({ model: "tool-shelf__echo", mcp_server_ids: [made.id] });
  const { body: reply } = await api.post(`/agents/${scout.id}/test`, { message: "Warp and weft" }, { status: 200 });
  expect(reply).toMatchObject({
    response: "The tool said: Warp and weft",
    tool_calls: [{ name: "shelf__echo", args: { text: "Warp and weft" } }],
  });
  const other = await agent({ model: "tool-shelf__add", mcp_server_ids: [made.id] });
  const { body: without } = await api.post(`/agents/${other.id}/test`, { message: "2" }, { status: 200 });
  expect(without.response).toContain("No tool named shelf__add was offered");

  const { body: conflict } = await api.del(`/mcp/${made.id}`, { status: 409 });
  expect(conflict.detail).toContain(`"${scout.name}"`);
  for (const { id } of [scout, other]) await api.del(`/agents/${id}`, { status: 204 });
  await api.del(`/mcp/${made.id}`, { status: 204 });
});

test("another project's server does not exist", async ({ api, newProject }) => {
  const { body: made } = await api.post("/mcp", open(), { status: 201 });
  const other = await newProject();
  const never = await other.api.get(`/mcp/${randomUUID()}`);
  for (const call of [
    other.api.get(`/mcp/${made.id}`),
    other.api.put(`/mcp/${made.id}`, { name: "Mine" }),
    other.api.post(`/mcp/${made.id}/refresh`),
    other.api.del(`/mcp/${made.id}`),
    other.api.get("/mcp/not-an-id"),
  ])
    expect(await call).toMatchObject({ status: 404, body: never.body });
  expect((await other.api.get("/mcp")).body.total).toBe(0);
  expect((await api.get(`/mcp/${made.id}`)).body).toEqual(made);
});

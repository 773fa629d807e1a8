import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { type FakeMcpServer, MCP_TOKEN, startMcpServer } from "#e2e/fakes/mcp-server.ts";
import { until } from "#e2e/until.ts";
import type { McpEndpoint } from "#server/features/mcp/client/endpoint.ts";
import { openMcpTools } from "#server/features/mcp/client/open-tools.ts";
import type { McpTransport } from "#server/features/mcp/schema.ts";
import { setAbsentProxy } from "#server/testing/proxy-server.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

let server: FakeMcpServer;
beforeAll(async () => {
  server = await startMcpServer();
});
afterEach(() => server.dropSessions());
afterAll(() => server.stop());

function open(more: Partial<McpEndpoint> = {}, limits = { connectSeconds: 10, callSeconds: 10 }) {
  const tools = openMcpTools(
    { name: "Fake", url: `${server.url}/mcp`, transport: "streamable_http", headers: {}, reach: "any", ...more },
    limits,
  );
  onTestFinished(() => tools.close());
  return tools;
}

const both: [McpTransport, string][] = [
  ["streamable_http", "/mcp"],
  ["sse", "/sse"],
];

test.each(both)("%s: tools are listed and called", async (transport, path) => {
  const tools = open({ transport, url: server.url + path });
  const { tools: listed } = await tools.list();
  expect(listed.map(({ name }) => name)).toEqual(["echo", "add", "slow", "failing", "image", "resource", "headers", "break_off"]);
  expect(listed[1]).toMatchObject({
    description: "Adds two numbers.",
    input_schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  });
  await expect(tools.call("add", { a: 2, b: 3 })).resolves.toEqual({ result: "5", success: true });
});

test.each(both)("%s: calls beside each other share one session and get their own answers", async (transport, path) => {
  const tools = open({ transport, url: server.url + path });
  const texts = Array.from({ length: 10 }, (_, index) => `text ${index}`);
  const answers = await Promise.all(texts.map((text) => tools.call("echo", { text })));
  expect(answers.map(({ result }) => result)).toEqual(texts);
  expect(server.sessions()).toBe(1);
});

test.each(both)("%s: a failing tool, an unknown one and wrong arguments are answers", async (transport, path) => {
  const tools = open({ transport, url: server.url + path });
  await expect(tools.call("failing", {})).resolves.toEqual({ result: "The shelf is empty.", success: false });
  await expect(tools.call("nothing", {})).resolves.toMatchObject({ success: false, result: expect.stringContaining("nothing") });
  await expect(tools.call("add", { a: "two" })).resolves.toMatchObject({ success: false, result: expect.stringMatching(/number/) });
  await expect(tools.call("add", [1, 2])).resolves.toEqual({ success: false, result: "The arguments must be a JSON object." });
});

test("images and resources are told as text", async () => {
  const tools = open();
  await expect(tools.call("image", {})).resolves.toEqual({ result: "A pixel:\n\n[image image/png 70 B]", success: true });
  await expect(tools.call("resource", {})).resolves.toEqual({
    result: "[resource note://1 text/plain]\nBuy thread.\n\n[resource note://2 application/pdf 70 B]\n\n[resource note://3] third: a list",
    success: true,
  });
});

test.each(both)("%s: headers travel, and their values come back masked", async (transport, path) => {
  const headers = { Authorization: `Bearer ${MCP_TOKEN}`, "X-Team": "north" };
  const tools = open({ transport, url: `${server.url}/locked${path}`, headers });
  const { result } = await tools.call("headers", {});
  expect(JSON.parse(result)).toMatchObject({ authorization: "••••", "x-team": "north" });
});

test.each(both)("%s: a missing header is told as such", async (transport, path) => {
  await expect(open({ transport, url: `${server.url}/locked${path}` }).list()).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringMatching(/^The MCP server "Fake" answered 401.*Check the headers/),
  });
});

test.each(both)("%s: a dropped session is made anew once, and the call repeated", async (transport, path) => {
  const tools = open({ transport, url: server.url + path });
  await expect(tools.call("echo", { text: "one" })).resolves.toEqual({ result: "one", success: true });
  server.dropSessions();
  const answers = await Promise.all(["two", "three"].map((text) => tools.call("echo", { text })));
  expect(answers).toEqual([
    { result: "two", success: true },
    { result: "three", success: true },
  ]);
  expect(server.sessions()).toBe(1);
});

test.each(both)(
  "%s: a call whose connection breaks off fails at once, is not repeated, and the next one works",
  async (transport, path) => {
    const tools = open({ transport, url: server.url + path });
    const before = server.calls().filter(({ tool }) => tool === "break_off").length;
    await expect(tools.call("break_off", {})).resolves.toEqual({
      result: 'The MCP server "Fake" broke off the connection before it answered. Try again.',
      success: false,
    });
    expect(server.calls().filter(({ tool }) => tool === "break_off")).toHaveLength(before + 1);
    await expect(tools.call("echo", { text: "still here" })).resolves.toEqual({ result: "still here", success: true });
  },
);

test.each(both)("%s: a call that takes too long is given up, here and there", async (transport, path) => {
  const tools = open({ transport, url: server.url + path }, { connectSeconds: 10, callSeconds: 0.3 });
  await expect(tools.call("slow", { ms: 60_000 })).resolves.toEqual({
    result: 'The MCP server "Fake" gave no answer within 0.3 seconds. Try again, or ask its operator.',
    success: false,
  });
  await until(() => server.calls().findLast(({ tool }) => tool === "slow")?.outcome === "aborted");
  await expect(tools.call("echo", { text: "next" })).resolves.toMatchObject({ success: true });
});

test.each(both)("%s: an abort ends a call with its reason", async (transport, path) => {
  const tools = open({ transport, url: server.url + path });
  const abort = new AbortController();
  const reason = new Error("the run was cancelled");
  const count = server.calls().length;
  const call = tools.call("slow", { ms: 60_000 }, abort.signal);
  await Promise.all([expect(call).rejects.toBe(reason), until(() => server.calls().length > count).then(() => abort.abort(reason))]);
  await until(() => server.calls()[count]?.outcome === "aborted");
});

test("a tool that is switched off is not called", async () => {
  const count = server.calls().length;
  const tools = open({ disabledTools: ["echo"] });
  await expect(tools.call("echo", { text: "x" })).resolves.toMatchObject({
    success: false,
    result: expect.stringContaining("switched off"),
  });
  expect(server.calls()).toHaveLength(count);
});

test("closing ends the session on the server", async () => {
  const tools = open();
  await tools.call("echo", { text: "x" });
  expect(server.sessions()).toBe(1);
  await tools.close();
  expect(server.sessions()).toBe(0);
});

const failures: [string, McpTransport, string, RegExp][] = [
  ["nobody listens", "streamable_http", "http://127.0.0.1:1/mcp", /does not accept connections at 127\.0\.0\.1:1/],
  ["nobody listens", "sse", "http://127.0.0.1:1/sse", /does not accept connections at 127\.0\.0\.1:1/],
  ["no such host", "streamable_http", "http://mcp.invalid/mcp", /cannot be (found|reached)|could not be reached/],
  ["another path", "streamable_http", "/elsewhere", /answered 404\. Check the address.*choose the transport sse/],
  ["another path", "sse", "/elsewhere", /answered 404.*choose the transport streamable_http/],
  [
    "a redirect to another host",
    "streamable_http",
    "/away",
    /answered 307: it redirects to http:\/\/elsewhere\.example\/mcp\. Enter the final address\.$/,
  ],
  ["the address of a current server", "sse", "/mcp", /answered 400\. Check the address.*choose the transport streamable_http/],
  ["no answer at all", "streamable_http", "/never", /no answer within 0\.5 seconds/],
  ["no answer at all", "sse", "/never", /no answer within 0\.5 seconds/],
];
test.each(failures)("%s (%s) is told in a sentence", async (_, transport, address, message) => {
  const url = address.startsWith("/") ? server.url + address : address;
  await expect(open({ transport, url }, { connectSeconds: 0.5, callSeconds: 1 }).list()).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringMatching(message),
  });
});

test.each<McpTransport>(["streamable_http", "sse"])("names the proxy when it cannot be reached (%s)", async (transport) => {
  setAbsentProxy();

  await expect(open({ transport, url: "http://mcp.example/mcp" }).list()).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringContaining("was not reached. The proxy at http://127.0.0.1:1 does not accept connections. Check OUTGOING_PROXY"),
  });
});

test("an address out of reach is not called, nor one that a redirect leads to", async () => {
  await expect(open({ reach: "public" }).list()).rejects.toMatchObject({ message: expect.stringContaining("private or reserved network") });
  await expect(open({ reach: "public", transport: "sse", url: `${server.url}/sse` }).list()).rejects.toMatchObject({
    message: expect.stringContaining("private or reserved network"),
  });
});

test.each([
  ["a web page", "text/html", "<!doctype html><title>Hello</title>"],
  ["JSON that is no MCP", "application/json", '{"hello":"world"}'],
  ["JSON that is none", "application/json", "{"],
])("%s is told to be no MCP server", async (_, type, body) => {
  const { url } = await serveHttp((response) => response.writeHead(200, { "content-type": type }).end(body));
  await expect(open({ url }).list()).rejects.toMatchObject({ message: expect.stringContaining("does not speak MCP at this address") });
});

test("an answer without end is cut off", async () => {
  const { url } = await serveHttp((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(1_000_000)));
    };
    response.on("drain", more);
    more();
  });
  await expect(open({ url }).list()).rejects.toMatchObject({ message: expect.stringContaining("too long to read") });
});

import { expect, onTestFinished, test } from "vitest";
import { openMcpTools } from "#server/features/mcp/client/open-tools.ts";
import { serveOddMcp } from "#server/testing/odd-mcp-server.ts";

async function open(...served: Parameters<typeof serveOddMcp>) {
  const { url } = await serveOddMcp(...served);
  const endpoint = { name: "Odd", url: `${url}/mcp`, transport: "streamable_http", headers: {}, reach: "any" } as const;
  const tools = openMcpTools(endpoint, { connectSeconds: 10, callSeconds: 10 });
  onTestFinished(() => tools.close());
  return tools;
}

test("a tool that is described wrongly does not cost the others, and is offered as far as it can be", async () => {
  const tools = await open(() => ({
    tools: [
      { name: "good", description: "Good.", inputSchema: { type: "object", properties: { a: true } } },
      { name: "untyped", description: null, inputSchema: { properties: { b: { type: "string" } } } },
      { name: "bare" },
      { name: "text", inputSchema: "none", annotations: null },
      { name: "list", inputSchema: { type: "array" } },
      { description: "without a name", inputSchema: { type: "object" } },
      null,
    ],
    nextCursor: null,
  }));
  expect((await tools.list()).tools).toEqual([
    { name: "good", description: "Good.", input_schema: { type: "object", properties: { a: true } } },
    { name: "untyped", description: "", input_schema: { type: "object", properties: { b: { type: "string" } } } },
    { name: "bare", description: "", input_schema: { type: "object" } },
    { name: "text", description: "", input_schema: { type: "object" } },
    { name: "list", description: "", input_schema: { type: "object" } },
  ]);
});

test.each<[string, object, string, boolean]>([
  [
    "a part of a kind that is not known",
    {
      content: [
        { type: "text", text: "One" },
        { type: "chart", points: [1] },
      ],
    },
    'One\n\n{"type":"chart","points":[1]}',
    true,
  ],
  [
    "a picture as an address with the data in it",
    { content: [{ type: "image", data: "data:image/png;base64,aGVsbG8=" }] },
    "[image 5 B]",
    true,
  ],
  [
    "a text that is none",
    {
      content: [
        { type: "text", text: null },
        { type: "text", text: "Two" },
      ],
    },
    "Two",
    true,
  ],
  ["text without parts", { content: "Three" }, "Three", true],
  ["parts that are bare texts", { content: ["Four", "Five"] }, "Four\n\nFive", true],
  ["structure alone", { structuredContent: { six: 6 } }, '{"six":6}', true],
  ["an answer from before the protocol had parts", { toolResult: { seven: 7 } }, '{"seven":7}', true],
  [
    "a resource without a kind",
    { content: [{ type: "resource", resource: { uri: "a://b", blob: "aGVsbG8=" } }] },
    "[resource a://b 5 B]",
    true,
  ],
  ["a link without a name", { content: [{ type: "resource_link", uri: "a://b" }] }, "[resource a://b]", true],
  ["nothing", {}, "The tool answered nothing.", true],
  ["a failure without words", { isError: true, content: [] }, "The tool failed without saying why.", false],
])("%s is read as far as it can be", async (_, answer, result, success) => {
  const tools = await open(() => answer);
  await expect(tools.call("any", {})).resolves.toEqual({ result, success });
});

test("what a server says of its tools is bounded, each and together", async () => {
  const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`p${n}`, { description: "x".repeat(40) }]));
  const large = { name: "large", inputSchema: { type: "object", properties } };
  const one = (n: number) => ({ name: `t${n}`, inputSchema: { type: "object", description: "x".repeat(50_000) } });
  const tools = await open(() => ({ tools: [large, { name: "n".repeat(300) }, ...Array.from({ length: 200 }, (_, n) => one(n))] }));
  const { tools: found } = await tools.list();
  expect(found[0]).toEqual({ name: "large", description: "", input_schema: { type: "object" } });
  expect(found.length).toBeLessThan(100);
  expect(JSON.stringify(found).length).toBeLessThan(5 * 1024 * 1024);
});

test("refuses a list of tools with too many keys before it is parsed", async () => {
  const properties = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`p${n}`, {}]));
  const tools = await open(() => ({ tools: [{ name: "large", inputSchema: { type: "object", properties } }] }));

  await expect(tools.list()).rejects.toThrow("an answer that is too long to read");
});

const PAGE = { tools: [{ name: "first" }] };

test("an empty cursor ends the list of tools", async () => {
  const tools = await open(({ params }) => (params?.cursor === undefined ? { ...PAGE, nextCursor: "" } : { tools: "none" }));

  expect(await tools.list()).toEqual({ tools: [{ name: "first", description: "", input_schema: { type: "object" } }] });
});

test("a later page that fails keeps the tools of the first", async () => {
  const tools = await open(({ params }) => (params?.cursor === undefined ? { ...PAGE, nextCursor: "two" } : { tools: "none" }));

  expect(await tools.list()).toEqual({
    tools: [{ name: "first", description: "", input_schema: { type: "object" } }],
    missing: expect.stringContaining('Page 2 of the list of tools is missing, and what follows it: The MCP server "Odd"'),
  });
});

test("a first page that fails fails the list", async () => {
  const tools = await open(() => ({ tools: "none" }));

  await expect(tools.list()).rejects.toThrow('The MCP server "Odd"');
});

test("a protocol version that is not known is named", async () => {
  const tools = await open(() => PAGE, "2031-01-01");

  await expect(tools.list()).rejects.toThrow("answered with the protocol version 2031-01-01, which is not known here");
});

import { graphOf } from "#e2e/api/graphs.ts";
import { newSource, settled } from "#e2e/api/rag-forms.ts";
import { type KnowledgeServer, startKnowledgeServer } from "#e2e/fakes/knowledge-server.ts";
import { test as base, expect } from "#e2e/fixtures.ts";
import { type McpProcess, startMcpProcess } from "#e2e/mcp-process.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import { RagDocument } from "#server/features/knowledge/schema.ts";
import { McpServerDetail } from "#server/features/mcp/schema.ts";
import { ExecutionLogs, RerunResult } from "#server/runs/schema.ts";
import { KEPT_RESULT_CHARACTERS } from "#server/runs/tool-call-schema.ts";

// What an agent's tools do in a run, and what the run keeps of it.

let mcp: McpProcess;
let web: KnowledgeServer;
base.beforeAll(async () => {
  [mcp, web] = await Promise.all([startMcpProcess(), startKnowledgeServer()]);
});
base.afterAll(() => Promise.all([mcp.stop(), web.stop()]));

const asking = (agent: Agent) =>
  graphOf({ Start: ["trigger", { kind: "manual" }], Ask: ["agent", { agent_id: agent.id, retries: 0 }], Answer: ["output"] }, [
    "Start>Ask",
    "Ask>Answer",
  ]);

const test = base.extend<{
  /** Runs a workflow of one agent to its end; the agent's entry in the log comes along. */
  ask(agent: Agent, input: string): Promise<{ id: string; output: string | null; log: ExecutionLogs["items"][number] | undefined }>;
  /** The agent's entry in the log of an execution. */
  logOf(executionId: string): Promise<ExecutionLogs["items"][number] | undefined>;
}>({
  logOf: async ({ api }, use) =>
    use(async (id) => (await api.get(`/executions/${id}/logs?node_id=Ask`, { schema: ExecutionLogs, status: 200 })).body.items[0]),
  ask: async ({ workflow, executed, logOf }, use) =>
    use(async (agent, input) => {
      const { id, status, error, output } = await executed(await workflow(asking(agent)), { input });
      expect([status, error]).toEqual(["completed", null]);
      return { id, output, log: await logOf(id) };
    }),
});

test("a tool of an MCP server: the log has the call with its arguments and the result, a rerun takes both over", async ({
  api,
  agent,
  ask,
  finished,
  logOf,
}) => {
  const { body: shelf } = await api.post("/mcp", { name: "Shelf", url: `${mcp.url}/mcp` }, { schema: McpServerDetail, status: 201 });
  const scout = await agent({ model: "tool-shelf__echo", mcp_server_ids: [shelf.id] });
  const calls = [{ name: "shelf__echo", args: { text: "Warp and weft" }, result: "Warp and weft", success: true }];
  const run = await ask(scout, "Warp and weft");
  expect(run.output).toBe("The tool said: Warp and weft");
  expect(run.log).toMatchObject({ node_id: "Ask", status: "complete", tool_calls: calls });

  const { body } = await api.post(`/executions/${run.id}/rerun`, { from_node_id: "Answer" }, { schema: RerunResult, status: 202 });
  expect((await finished(body.execution_id)).output).toBe(run.output);
  expect((await logOf(body.execution_id))?.tool_calls).toEqual(calls);

  // A chat's answer tells the calls as the specification has them.
  const { body: reply } = await api.post(`/agents/${scout.id}/test`, { message: "Weft" }, { status: 200 });
  expect(reply.tool_calls).toEqual([{ name: "shelf__echo", args: { text: "Weft" } }]);
});

test("a tool that fails is kept with what it said, and the run goes on", async ({ api, agent, ask }) => {
  const { body: shelf } = await api.post("/mcp", { name: "Shelf", url: `${mcp.url}/mcp` }, { status: 201 });
  const { output, log } = await ask(await agent({ model: "tool-shelf__failing", mcp_server_ids: [shelf.id] }), "Hello");
  expect(log?.tool_calls).toEqual([
    { name: "shelf__failing", args: {}, result: expect.stringContaining("The shelf is empty."), success: false },
  ]);
  expect(output).toContain("The shelf is empty.");
});

test("of a long result the model reads all, and the run keeps the beginning", async ({ api, agent, ask }) => {
  const { body: shelf } = await api.post("/mcp", { name: "Shelf", url: `${mcp.url}/mcp` }, { status: 201 });
  const long = `begin ${"thread ".repeat(2000)}end`;
  const { output, log } = await ask(await agent({ model: "tool-shelf__echo", mcp_server_ids: [shelf.id] }), long);
  expect(output).toBe(`The tool said: ${long}`);
  const kept = log?.tool_calls[0]?.result ?? "";
  expect(kept.slice(0, KEPT_RESULT_CHARACTERS)).toBe(long.slice(0, KEPT_RESULT_CHARACTERS));
  expect(kept.slice(KEPT_RESULT_CHARACTERS)).toBe(`\n[cut here: ${long.length.toLocaleString("en")} characters in all]`);
});

test("a secret that a tool gets and repeats is masked in what is kept of the call, also where the result is cut", async ({
  api,
  agent,
  workflow,
  logOf,
  executed,
}) => {
  const secret = "tok_9b2e61c4d7f0";
  await api.post("/credentials", { name: "TOKEN", value: secret }, { status: 201 });
  const { body: shelf } = await api.post("/mcp", { name: "Shelf", url: `${mcp.url}/mcp` }, { status: 201 });
  const scout = await agent({ model: "tool-shelf__echo", mcp_server_ids: [shelf.id] });
  for (const before of ["", "x".repeat(KEPT_RESULT_CHARACTERS - 6)]) {
    const graph = asking(scout);
    Object.assign(graph.nodes[1]?.data ?? {}, { input: `${before}{{credentials.TOKEN}} is it` });
    const run = await executed(await workflow(graph));
    expect(run.output).toBe(`The tool said: ${before}•••• is it`);
    const [call] = (await logOf(run.id))?.tool_calls ?? [];
    expect(call?.args).toEqual({ text: `${before}•••• is it` });
    expect(call?.result?.startsWith(`${before}••••`)).toBe(true);
    expect(call?.result).not.toContain(secret.slice(0, 6));
  }
  expect(JSON.stringify((await mcp.state()).calls)).toContain(secret); // the tool itself got it
});

test("web_scraper reads a page, which the answer then holds", async ({ agent, ask }) => {
  const url = `${web.url}/pages/changing`;
  const { output, log } = await ask(await agent({ model: "tool-web_scraper", tools: ["web_scraper"] }), url);
  const page = { ...{ number: null, rag_id: null, document_id: null, place: "" }, uri: url, title: expect.any(String) };
  const sources = [{ ...page, excerpt: expect.stringContaining("apples"), read_at: expect.any(String) }];
  expect(log?.tool_calls).toEqual([
    { name: "web_scraper", args: { url }, result: expect.stringContaining("apples"), success: true, sources },
  ]);
  expect(output).toContain(url);
  expect(output).toContain("apples");
});

test("a search in the knowledge: the answer cites document and place", async ({ api, agent, ask }) => {
  const rag = await newSource(api);
  const text = "# House\n\n## Quiet hours\n\nNobody plays the drums after ten.";
  const { body } = await api.post(`/rags/${rag.id}/documents`, { title: "House rules", text }, { schema: RagDocument, status: 201 });
  expect((await settled(api, body)).status).toBe("ready");
  const { output, log } = await ask(await agent({ model: "tool-search_knowledge", rag_ids: [rag.id] }), "drums after ten");
  const piece = "[1] House rules · House › Quiet hours\nNobody plays the drums after ten.";
  const place = { ...{ number: 1, rag_id: rag.id, document_id: body.id }, title: "House rules", uri: null, place: "House › Quiet hours" };
  const sources = [{ ...place, excerpt: "Nobody plays the drums after ten.", read_at: expect.any(String) }];
  expect(log?.tool_calls).toEqual([
    { name: "search_knowledge", args: { query: "drums after ten" }, result: piece, success: true, sources },
  ]);
  expect(output).toBe(`The tool said: ${piece}`);
});

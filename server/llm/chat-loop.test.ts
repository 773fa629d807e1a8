import { expect, test } from "vitest";
import { type ChatLoopRequest, type ChatLoopResult, chatWithTools } from "#server/llm/chat-loop.ts";
import { type AgentToolDefinition, MalformedArguments, type ToolAnswer, ToolWaits } from "#server/llm/tools/tool.ts";
import { failure, testClock, testEndpoint, unpaid } from "#server/testing/ask-model.ts";
import { testModelServer } from "#server/testing/model-server.ts";

const models = testModelServer();

/** A tool that takes a query and answers with what `call` makes of it. */
const tool = (
  name: string,
  call: (query: string, signal: AbortSignal) => Promise<ToolAnswer> | ToolAnswer = (query) => ({
    result: `${name}: ${query}`,
    success: true,
  }),
): AgentToolDefinition => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  call: async (args, { signal }) => call(String((args as { query?: unknown }).query), signal),
});

const talk = (model: string, more: Partial<ChatLoopRequest> = {}): Promise<ChatLoopResult> =>
  chatWithTools({
    endpoint: testEndpoint(models.url),
    model,
    messages: [{ role: "user", content: "one two" }],
    timeoutMs: 60_000,
    retries: 0,
    clock: testClock(),
    meter: unpaid(),
    ...more,
  });

const schema = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"], additionalProperties: false };

test.each([true, false])("a tool is called and its result leads to the answer; tokens are summed (streaming: %s)", async (isStreaming) => {
  const told: unknown[] = [];
  const result = await talk("tool-find", {
    tools: [tool("find")],
    ...(isStreaming && { onDelta: () => undefined }),
    onToolCall: ({ name, args }) => told.push(["call", name, args]),
    onToolResult: ({ name }, answer) => told.push(["result", name, answer]),
  });
  expect(result).toEqual({
    text: "The tool said: find: one two",
    model: "tool-find",
    input_tokens: 2 + 5, // the question; then the question and the tool's three words
    cached_tokens: 0,
    output_tokens: 2 + 6, // '{"query":"one two"}' is two words; then the answer
    tool_calls: [{ name: "find", args: { query: "one two" } }],
  });
  expect(told).toEqual([
    ["call", "find", { query: "one two" }],
    ["result", "find", { result: "find: one two", success: true }],
  ]);
  expect(models.calls().map(({ stream }) => stream)).toEqual([isStreaming, isStreaming]);
});

test("what goes out: the tools with their schemas, then the calls and results in the wire's own form", async () => {
  const find = tool("find");
  await talk("tool-find", { tools: [{ ...find, parameters: { $schema: "http://json-schema.org/draft-07/schema#", ...find.parameters } }] });
  const [first, second] = models.calls().map(({ request }) => request);
  expect(first?.tools).toEqual([
    { type: "function", function: { name: "find", description: "The tool find.", parameters: find.parameters } },
  ]);
  const id = second?.messages[1]?.tool_calls?.[0]?.id;
  expect(second?.messages).toEqual([
    { role: "user", content: "one two" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "find", arguments: '{"query":"one two"}' } }],
    },
    { role: "tool", tool_call_id: id, content: "find: one two" },
  ]);
});

for (const [dialect, provider] of Object.entries({
  openai: "openai",
  anthropic: "anthropic",
  gemini: "gemini",
  mistral: "mistral",
  azure: "azure",
  local: "openai_compatible",
  glued: "openai_compatible",
} as const)) {
  for (const isStreaming of [true, false]) {
    test(`${dialect}: two parallel calls, then an answer that follows a schema (streaming: ${isStreaming})`, async () => {
      const baseUrl = models.url.replace("/v1", provider === "azure" ? "/azure" : `/${dialect}/v1`);
      // The glued gateway only runs calls of one tool together.
      const names = dialect === "glued" ? ["find", "find"] : ["find", "read"];
      const result = await talk(`tools-${names.join(".")}`, {
        endpoint: testEndpoint(baseUrl, { provider }),
        tools: [tool("find"), tool("read")],
        max_tokens: 1000,
        answerSchema: schema,
        ...(isStreaming && { onDelta: () => undefined, onRestart: () => undefined }),
      });
      expect(result.tool_calls).toEqual(names.map((name, index) => ({ name, args: { query: `one two ${index + 1}` } })));
      const said = names.map((name, index) => `${name}: one two ${index + 1}`).join(" | ");
      expect(JSON.parse(result.text)).toEqual({ answer: `The tool said: ${said}` });
    });
  }
}

test("the schema goes into response_format where the vendor has it, strict when it can be, else into words", async () => {
  const ask = async (provider: "openai" | "gemini" | "anthropic", answerSchema: object, tools: AgentToolDefinition[] = []) => {
    models.reset();
    const endpoint = testEndpoint(models.url.replace("/v1", `/${provider}/v1`), { provider });
    await talk("json", { endpoint, tools, answerSchema: { ...answerSchema } });
    const request = models.calls()[0]?.request;
    return { format: request?.response_format, system: request?.messages.find(({ role }) => role === "system")?.content };
  };
  const format = (strict: boolean, of: object) => ({ type: "json_schema", json_schema: { name: "answer", schema: of, strict } });
  const open = { type: "object", properties: schema.properties };
  expect(await ask("openai", schema)).toEqual({ format: format(true, schema), system: undefined });
  expect(await ask("openai", open, [tool("find")])).toEqual({ format: format(false, open), system: undefined });
  expect((await ask("gemini", schema)).format).toEqual(format(true, schema));
  expect(await ask("gemini", schema, [tool("find")])).toEqual({
    format: undefined,
    system: expect.stringContaining(JSON.stringify(schema)),
  });
  expect(await ask("anthropic", schema)).toEqual({ format: undefined, system: expect.stringContaining(JSON.stringify(schema)) });
});

test("only the JSON of an answer counts; what stands around it is left out", async () => {
  const answer = await talk("fenced-json", { answerSchema: schema });
  expect(answer.text).toBe('{"answer":"one two"}');
});

test("an answer beside the schema is repaired once; viewers start anew", async () => {
  const seen: string[] = [];
  const result = await talk("bad-json-1", {
    answerSchema: schema,
    onDelta: (piece) => seen.push(piece),
    onRestart: () => seen.push("(restart)"),
  });
  expect(JSON.parse(result.text).answer).toContain("does not follow the JSON Schema: answer: ");
  expect(seen.join("")).toMatch(/^Here you are: \{"wrong": true\}\(restart\)\{"answer":/);
  expect(models.calls().length).toBe(2);
  expect(result.output_tokens).toBeGreaterThan(5);
});

test("where nothing can be taken back, only the answer that passed is shown", async () => {
  const seen: string[] = [];
  const { text } = await talk("bad-json-1", { answerSchema: schema, onDelta: (piece) => seen.push(piece) });
  expect(seen).toEqual([text]);
});

test("an answer beside the schema twice is a failure with the raw text", async () => {
  const error = await failure(talk("bad-json-9", { answerSchema: schema }));
  expect(error.message).toMatch(
    /^The model bad-json-9 of OpenAI-compatible did not answer as the output schema asks, not even when asked again: answer: .* \(LLM key "Main"\)\. It said: Here you are: \{"wrong": true\}$/,
  );
  expect([error.code, models.calls().length]).toEqual(["UPSTREAM_ERROR", 2]);
});

test("an answer that was cut at its length is not asked for again", async () => {
  const error = await failure(talk("cut-json", { answerSchema: schema }));
  expect(error.message).toContain('up to the limit of its length, before the JSON was whole (LLM key "Main"). It said: {"answer": "half');
  expect(models.calls().length).toBe(1);
});

test("calls of one round run side by side, and their results keep the order of the calls", async () => {
  const begun: string[] = [];
  let goOn: () => void = () => undefined;
  const both = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const meeting = (name: string) =>
    tool(name, async () => {
      begun.push(name);
      if (begun.length === 2) goOn();
      await both; // each ends only when the other has begun
      return { result: `${name} was there`, success: true };
    });
  const { text } = await talk("tools-find.read", { tools: [meeting("read"), meeting("find")] });
  expect(text).toBe("The tool said: find was there | read was there");
});

test("a tool that fails, throws, is unknown or gets broken arguments is told to the model in words", async () => {
  const result = async (model: string, find: AgentToolDefinition) => (await talk(model, { tools: [find] })).text;
  expect(
    await result(
      "tool-find",
      tool("find", () => ({ result: "Nothing was found.", success: false })),
    ),
  ).toContain("Nothing was found.");
  const thrown = await result(
    "tool-find",
    tool("find", () => {
      throw new Error("password=hunter2");
    }),
  );
  expect(thrown).toBe("The tool said: The tool failed with an internal error, not because of its arguments.");
  expect(await result("unknown-tool", tool("find"))).toBe('The tool said: There is no tool named "no_such_tool". The tools are: find.');
  expect(await result("bad-args-find", tool("find"))).toContain("The arguments were not a JSON object.");
});

test("a long result is cut, and the model is told", async () => {
  const { text } = await talk("tool-find", { tools: [tool("find", () => ({ result: "x".repeat(50_010), success: true }))] });
  expect(text).toMatch(/x\n\[cut here: 50,010 characters in all\]$/);
});

test("rounds without end are a failure", async () => {
  const error = await failure(talk("again-find", { tools: [tool("find")], maxRounds: 3 }));
  expect(error.message).toBe(
    'The model again-find of OpenAI-compatible called tools in 3 rounds and asked for more instead of answering (LLM key "Main"). Ask for less, or choose another model.',
  );
  expect(models.calls().length).toBe(4);
});

test("what is said on the way to a tool is shown, taken back, and no part of the answer", async () => {
  const seen: string[] = [];
  const more = { tools: [tool("find")], onDelta: (piece: string) => seen.push(piece), onRestart: () => seen.push("(restart)") };
  expect((await talk("say-tool-find", more)).text).toBe("The tool said: find: one two");
  expect(seen.join("")).toBe("Let me look.(restart)The tool said: find: one two");
});

test("an abort while a tool runs ends the call at once, also when the tool does not listen", async () => {
  const stop = new AbortController();
  let heard: AbortSignal | undefined;
  const deaf = tool("find", (_, signal) => {
    heard = signal;
    stop.abort(new Error("cancelled by somebody"));
    return new Promise(() => undefined);
  });
  await expect(talk("tool-find", { tools: [deaf], signal: stop.signal })).rejects.toThrow("cancelled by somebody");
  expect([heard?.aborted, models.calls().length]).toEqual([true, 1]);
});

test("a call that fails because our database is away ends the tools beside it", async () => {
  const beside = Promise.withResolvers<void>();
  const waiting = (_query: string, signal: AbortSignal) =>
    new Promise<ToolAnswer>(() => signal.addEventListener("abort", () => beside.resolve()));
  const away = () => Promise.reject(new Error("Connection terminated unexpectedly"));
  await expect(talk("tools-find.wait", { tools: [tool("find", away), tool("wait", waiting)] })).rejects.toThrow("Connection terminated");
  await beside.promise;
});

test("an abort in the second round ends the request", async () => {
  const stop = new AbortController();
  const call = talk("tool-find", {
    tools: [tool("find", () => ({ result: "gate", success: true }))],
    signal: stop.signal,
    onDelta: () => stop.abort(new Error("cancelled by somebody")),
  });
  await expect(call).rejects.toThrow("cancelled by somebody");
});

test("the time holds for all rounds and tools together", async () => {
  const slow = tool("find", () => new Promise(() => undefined));
  const error = await failure(talk("tool-find", { tools: [slow], timeoutMs: 300 }));
  expect(error.message).toContain("did not finish its answer within 0.3 seconds (model tool-find");
});

test("a provider's failure after the tools is told in its words; a busy one is asked again", async () => {
  const error = await failure(talk("tool-then-401-find", { tools: [tool("find")] }));
  expect(error.message).toContain("answered 401");
  models.reset();
  const clock = testClock();
  await failure(talk("tool-then-429-find", { tools: [tool("find")], retries: 1, clock }));
  expect([clock.slept, models.calls().length]).toEqual([[1000], 3]);
});

test("a model without tools and a conversation that is too long say so", async () => {
  const noTools = await failure(talk("no-tools", { tools: [tool("find")] }));
  expect(noTools.reason).toBe("no_tools");
  expect(noTools.message).toContain('The model no-tools cannot call tools (LLM key "Main"): take tools, MCP servers and knowledge away');
  const overflow = await failure(talk("overflow", { retries: 3 }));
  expect(overflow.reason).toBe("context_overflow");
  expect(overflow.message).toContain("The conversation is longer than the model overflow can read");
});

test("a conversation can be gone on with in the middle of a round; each message that joins it is told and waited for", async () => {
  const done: string[] = [];
  const find = tool("find", async (query) => {
    done.push(query);
    return { result: `found ${query}`, success: true };
  });
  const call = (id: string, query: string) => ({ id, name: "find", args: { query }, isMalformed: false });
  const joined: string[] = [];
  const result = await talk("tool-find", {
    tools: [find],
    messages: [
      { role: "user", content: "one two" },
      { role: "assistant", content: "", toolCalls: [call("aaaaaaaa1", "first"), call("aaaaaaaa2", "second"), call("aaaaaaaa3", "third")] },
      { role: "tool", toolCallId: "aaaaaaaa1", content: "found first" },
    ],
    onMessage: async (message) => {
      // Before the next call begins.
      expect(done).toHaveLength(joined.length + 1);
      await new Promise((resolve) => setImmediate(resolve));
      joined.push(message.content);
    },
  });
  expect(done).toEqual(["second", "third"]);
  expect(joined).toEqual(["found second", "found third"]);
  expect(result.text).toBe("The tool said: found first | found second | found third");
});

test("a tool that has to wait ends the conversation, after what was done before it", async () => {
  const joined: string[] = [];
  const asked = talk("tools-find.wait", {
    tools: [
      tool("find"),
      tool("wait", () => {
        throw new ToolWaits();
      }),
    ],
    onMessage: async ({ role }) => void joined.push(role),
  });
  await expect(asked).rejects.toBeInstanceOf(ToolWaits);
  expect(joined).toEqual(["assistant", "tool"]);
});

test("what is sent can be another thing than the conversation, and looking at it can end the whole", async () => {
  const cut = await talk("tool-find", {
    tools: [tool("find")],
    beforeAsk: async (messages) => messages.map((message) => (message.role === "tool" ? { ...message, content: "(cut)" } : message)),
  });
  expect(cut.text).toBe("The tool said: (cut)");
  const ended = talk("tool-find", {
    tools: [tool("find")],
    beforeAsk: async (messages) => {
      if (messages.length > 1) throw new Error("That is enough.");
      return [...messages];
    },
  });
  await expect(ended).rejects.toThrow("That is enough.");
});

test("malformed calls in a row are answered so many times, and no more", async () => {
  const refuse = tool("find", () => {
    throw new MalformedArguments("No such thing as a query.");
  });
  const results: string[] = [];
  const asked = talk("again-find", {
    tools: [refuse],
    maxMalformed: 2,
    maxRounds: 20,
    onToolResult: (_, { result }) => results.push(result),
  });
  await expect(asked).rejects.toThrow(/arguments that they do not take 3 times.*No such thing as a query\./);
  expect(results).toHaveLength(3);
});

import { expect, test } from "vitest";
import { answered, ask, delta, failure, json, refuse, stream, TEST_KEY, testEndpoint } from "#server/testing/ask-model.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

const models = testModelServer();

const usage = { prompt_tokens: 3, completion_tokens: 4 };

test("streams the answer piece by piece and counts its tokens", async () => {
  const pieces: string[] = [];
  const result = await ask(models.url, { onDelta: (piece) => pieces.push(piece) });
  expect(pieces.join("")).toBe("Echo: one two");
  expect(pieces.length).toBeGreaterThan(1);
  expect(result).toMatchObject({ text: "Echo: one two", model: "echo", input_tokens: 2, output_tokens: 3, tool_calls: [] });
  expect(models.calls()[0]?.request).toMatchObject({ model: "echo", stream: true, stream_options: { include_usage: true } });
});

test("asks for one whole answer when nobody listens", async () => {
  await expect(ask(models.url)).resolves.toMatchObject({ text: "Echo: one two", output_tokens: 3 });
  expect(models.calls()[0]?.stream).toBe(false);
});

test.each([
  ["OpenAI", { prompt_tokens_details: { cached_tokens: 2 } }, 2],
  ["DeepSeek", { prompt_cache_hit_tokens: 2, prompt_cache_miss_tokens: 1 }, 2],
  ["Moonshot", { cached_tokens: 1 }, 1],
  ["a server that says null", { prompt_tokens_details: null }, 0],
  ["a server that counts wrongly", { prompt_tokens_details: { cached_tokens: 9 } }, 3],
])("reads how much of the input came from a cache as %s tells it", async (_, told, cached_tokens) => {
  const server = await serveHttp((response) => json(response, 200, answered("ok", { usage: { ...usage, ...told } })));
  await expect(ask(server.url)).resolves.toMatchObject({ input_tokens: 3, cached_tokens, output_tokens: 4 });
});

test("sends what the agent is set to, and leaves out what is left to the model", async () => {
  const server = await serveHttp((response) => json(response, 200, answered("ok")));
  await ask(server.url, { temperature: 0, max_tokens: 50 });
  await ask(server.url, { temperature: null, max_tokens: null });
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0, max_tokens: 50 });
  expect(Object.keys(server.requests[1]?.body as object).sort()).toEqual(["messages", "model", "stream"]);
});

test.each([
  ["openai", "gpt-5", "gpt-5", { max_completion_tokens: 9 }],
  ["anthropic", "claude-haiku-4-5", "claude-haiku-4-5", { max_tokens: 9 }],
  ["gemini", "gemini/gemini-2.5-pro", "gemini-2.5-pro", { max_tokens: 9 }],
  ["mistral", "mistral-large-latest", "mistral-large-latest", { max_tokens: 9 }],
  ["huggingface", "huggingface/Qwen/Qwen3-8B", "Qwen/Qwen3-8B", { max_tokens: 9 }],
  ["openai_compatible", "openai/gpt-oss", "openai/gpt-oss", { max_tokens: 9 }],
] as const)("%s is asked at its chat-completions path with a bearer key", async (provider, model, sent, limit) => {
  const server = await serveHttp((response) => json(response, 200, answered("ok")));
  await ask("", { endpoint: testEndpoint(`${server.url}/base/`, { provider }), model, max_tokens: 9 });
  expect(server.requests[0]).toMatchObject({
    path: "/base/chat/completions",
    headers: { authorization: `Bearer ${TEST_KEY}` },
    body: { model: sent, ...limit },
  });
});

test.each([
  ["", null, "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"],
  ["/", "2025-01-01-preview", "/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01-preview"],
  ["/openai", null, "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"],
  ["/openai/v1/", null, "/openai/v1/chat/completions"],
])("an Azure resource at %j is asked by deployment", async (path, apiVersion, sent) => {
  const server = await serveHttp((response) => json(response, 200, answered("ok")));
  await ask("", { endpoint: testEndpoint(`${server.url}${path}`, { provider: "azure", apiVersion }), model: "azure/my-gpt" });
  expect(server.requests[0]?.path).toBe(sent);
  const { authorization, "api-key": apiKey } = server.requests[0]?.headers ?? {};
  expect(apiKey ?? authorization).toContain(TEST_KEY);
});

test("takes a whole answer from a server that was asked to stream and does not", async () => {
  const server = await serveHttp((response) => json(response, 200, answered("all at once", { usage })));
  const pieces: string[] = [];
  const result = await ask(server.url, { onDelta: (piece) => pieces.push(piece) });
  expect(pieces).toEqual(["all at once"]);
  expect(result).toMatchObject({ text: "all at once", input_tokens: 3, output_tokens: 4 });
});

test("a server that tells no usage counts as 0 tokens, and one that sends no [DONE] is understood", async () => {
  const server = await serveHttp((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      `: hello\r\n\r\ndata: {"choices":[{"delta":{"content":"hi"}}]}\r\n\r\ndata:{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
    );
  });
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({
    text: "hi",
    model: "echo",
    input_tokens: 0,
    output_tokens: 0,
    tool_calls: [],
  });
});

test("reads a stream that is labelled as something else", async () => {
  const server = await serveHttp((response) =>
    response.writeHead(200, { "content-type": "text/plain" }).end('data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n'),
  );
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ text: "hi" });
});

test.each([
  [{ content: null }, ""],
  [
    {
      content: [
        { type: "thinking", thinking: [] },
        { type: "text", text: "four" },
      ],
    },
    "four",
  ],
  [{ content: null, refusal: "I will not." }, "I will not."],
])("the text of %j is %j", async (message, text) => {
  const server = await serveHttp((response) => json(response, 200, { choices: [{ message }] }));
  await expect(ask(server.url)).resolves.toMatchObject({ text });
});

test("gathers tool calls that come in pieces", async () => {
  const server = await serveHttp((response) => {
    const piece = (...tool_calls: object[]) => ({ choices: [{ delta: { tool_calls } }] });
    const name = piece({ index: 0, id: "a", function: { name: "find", arguments: "" } });
    stream(response, name, piece({ index: 0, function: { arguments: '{"q":' } }), piece({ index: 0, function: { arguments: '"x"}' } }));
  });
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ tool_calls: [{ name: "find", args: { q: "x" } }] });
});

test.each([
  ["stream_options is not permitted", { error: { message: "Extra inputs are not permitted: stream_options" } }],
  [
    "a list of fields as Mistral sends it",
    { object: "error", message: { detail: [{ type: "extra_forbidden", loc: ["body", "stream_options", "include_usage"] }] } },
  ],
])("does without stream_options when refused: %s", async (_, body) => {
  const server = await serveHttp((response, _index, request) => {
    if ((request.body as { stream_options?: unknown }).stream_options) return json(response, 422, body);
    stream(response, delta("ok"));
  });
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ text: "ok" });
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ text: "ok" });
  expect(server.requests.length, "what was learned is kept").toBe(3);
});

test("asks for a whole answer where streaming is refused", async () => {
  const server = await serveHttp((response, _, request) => {
    const { stream } = request.body as { stream: boolean };
    if (stream) return refuse(response, 400, "Your organization must be verified to stream this model.");
    json(response, 200, answered("whole"));
  });
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ text: "whole" });
});

test.each([
  [
    "openai_compatible",
    "max_tokens",
    "max_completion_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ],
  ["openai", "max_completion_tokens", "max_tokens", "Unrecognized request argument supplied: max_completion_tokens"],
] as const)("%s: %s is sent as %s when refused", async (provider, first, second, message) => {
  const server = await serveHttp((response, _, request) =>
    first in (request.body as object) ? refuse(response, 400, message) : json(response, 200, answered("ok")),
  );
  await ask("", { endpoint: testEndpoint(server.url, { provider }), max_tokens: 5 });
  expect(server.requests.map(({ body }) => body)).toEqual([
    expect.objectContaining({ [first]: 5 }),
    expect.objectContaining({ [second]: 5 }),
  ]);
});

test("a limit that is too high is reported, not worked around", async () => {
  const server = await serveHttp((response) =>
    refuse(response, 400, "max_tokens is too large: 999. This model supports at most 100 completion tokens."),
  );
  expect((await failure(ask(server.url, { max_tokens: 999 }))).message).toContain("max_tokens is too large: 999.");
  expect(server.requests.length).toBe(1);
});

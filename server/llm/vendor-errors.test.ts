import { describe, expect, test } from "vitest";
import { dialects } from "#e2e/fakes/dialects.ts";
import type { Trouble } from "#e2e/fakes/vendor-errors.ts";
import { providerError } from "#server/llm/errors.ts";
import { type ProviderId, providerIds, providerKind } from "#server/llm/kinds.ts";
import { answered, ask, delta, failure, json, stream, testClock, testEndpoint } from "#server/testing/ask-model.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

// What becomes of each vendor's errors (e2e/fakes/vendor-errors.ts has them in the vendors' shapes): what they are about,
// whether the call is tried again and when, and that people read the vendor's words and what to do.

const models = testModelServer();

/** A kind without a dialect of its own speaks the common one. */
const at = (provider: ProviderId) => {
  const dialect = dialects[provider] ? `/${provider}` : "";
  return testEndpoint(`http://127.0.0.1:${models.port}${dialect}${provider === "azure" ? "" : "/v1"}`, { provider });
};

/** Per kind: status, what it is about, and for how long a try waits (undefined: no further try; null: our own pause). */
type Row = readonly [status: number, reason: string | undefined, pauseMs: number | null | undefined];
type Rows = Record<Exclude<Trouble, "wrong-key">, Row>;
const asOpenAi: Rows = {
  "unknown-model": [404, "unknown_model", undefined],
  "rate-limit": [429, undefined, 5500],
  overload: [503, undefined, null],
  "no-credit": [429, "no_credit", undefined],
  overflow: [400, "context_overflow", undefined],
  "no-tools": [400, "no_tools", undefined],
};
/** Those that differ. */
const rows: Partial<Record<ProviderId, Rows>> = {
  azure: { ...asOpenAi, "rate-limit": [429, undefined, 6000] },
  anthropic: {
    ...asOpenAi,
    "rate-limit": [429, undefined, 12_000],
    overload: [529, undefined, null],
    "no-credit": [400, "no_credit", undefined],
  },
  gemini: { ...asOpenAi, "rate-limit": [429, undefined, 22_000], "no-credit": [429, undefined, undefined] },
  mistral: {
    ...asOpenAi,
    "unknown-model": [400, "unknown_model", undefined],
    "rate-limit": [429, undefined, null],
    "no-credit": [402, "no_credit", undefined],
  },
  huggingface: {
    ...asOpenAi,
    "unknown-model": [400, "unknown_model", undefined],
    "rate-limit": [429, undefined, 30_000],
    "no-credit": [402, "no_credit", undefined],
    overflow: [422, "context_overflow", undefined],
    "no-tools": [422, "no_tools", undefined],
  },
};

const tools = [{ name: "find", description: "Finds.", parameters: { type: "object", properties: {} } }];

describe.each(providerIds)("%s", (provider) => {
  test.each(Object.entries(rows[provider] ?? asOpenAi))("%s is %j", async (trouble, [status, reason, pauseMs]) => {
    const clock = testClock();
    const model = `trouble-${trouble}`;
    const isAboutTools = trouble === "no-tools";
    const error = await failure(ask("", { endpoint: at(provider), model, retries: 1, clock, ...(isAboutTools && { tools }) }));
    expect([error.status, error.reason]).toEqual([status, reason]);
    expect(clock.slept).toEqual(pauseMs === undefined ? [] : [pauseMs ?? 500]);
    expect(error.isRetryable).toBe(pauseMs !== undefined);
    expect(error.words.length, "the vendor's words are found").toBeGreaterThan(5);
    expect(error.message).toContain(error.words);
    expect(error.message).toMatch(/answered \d{3}: .+ .*"Main"/);
  });

  test("a streamed answer of it is read: text, tool calls and tokens", async () => {
    const pieces: string[] = [];
    const said = await ask("", { endpoint: at(provider), onDelta: (piece) => pieces.push(piece) });
    expect([pieces.join(""), said.text]).toEqual(["Echo: one two", "Echo: one two"]);
    if (providerKind(provider).hasStreamOptions || dialects[provider]) expect([said.input_tokens, said.output_tokens]).toEqual([2, 3]);
    if (!providerKind(provider).supportsTools) return;
    const called = await ask("", { endpoint: at(provider), model: "tool-find", tools, onDelta: () => undefined });
    expect(called.tool_calls).toMatchObject([{ name: "find", args: {}, isMalformed: false }]);
    expect(called.output_tokens).toBeGreaterThan(0);
  });
});

// Errors that come after the answer has begun.
test.each([
  ["Anthropic", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, /stopped with an error: Overloaded\./, true],
  ["Mistral", { object: "error", message: "Service unavailable.", type: "unreachable", code: "3000" }, /Service unavailable\./, true],
  ["Google", [{ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }], /answered 503: The model is/, true],
  ["OpenAI", { error: { message: "You exceeded your current quota.", code: "insufficient_quota" } }, /Check the balance/, false],
])("%s's error in a stream is told in its words", async (_, body, message, isRetryable) => {
  const server = await serveHttp((response) => stream(response, body));
  const error = await failure(ask(server.url, { onDelta: () => undefined }));
  expect(error.message).toMatch(message);
  expect(error.isRetryable).toBe(isRetryable);
});

test("an answer that ended at the model's own limit counts as cut, as Mistral tells it", async () => {
  const server = await serveHttp((response) =>
    json(response, 200, { choices: [{ message: { content: "ha" }, finish_reason: "model_length" }] }),
  );
  await expect(ask(server.url)).resolves.toMatchObject({ isCut: true });
});

test("a content filter that refuses the question says what to change", async () => {
  const message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.";
  const server = await serveHttp((response) => json(response, 400, { error: { message, code: "content_filter", status: 400 } }));
  const error = await failure(ask("", { endpoint: testEndpoint(server.url, { provider: "azure" }), retries: 2 }));
  expect(error.message).toMatch(/A content filter refused the text .* change the message or the agent's instructions\.$/);
  expect(server.requests.length).toBe(1);
});

test.each([
  [404, "models/gemini-9.9-pro is not found for API version v1main", "unknown_model"],
  [400, "acme/m-2.5 is not a valid model ID", "unknown_model"],
  [403, "Project `p` does not have access to model `gpt-5.1`", "unknown_model"],
  [403, "Country, region, or territory not supported", undefined],
  [503, "Model gpt-x is currently not available", undefined],
  [400, "The model answers. The file was not found.", undefined],
  [400, "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", "temperature"],
  [400, "temperature: range: 0..1", "temperature"],
  [400, "API key expired. Please renew the API key.", "wrong_key"],
  [400, "Function calling with a response mime type: 'application/json' is unsupported", undefined],
])("%i %j is about %s", async (status, message, reason) => {
  const server = await serveHttp((response) => json(response, status, { error: { message } }));
  expect((await failure(ask(server.url))).reason).toBe(reason);
});

// Without a base URL of its own there is none to check.
test.each([
  ["ENOTFOUND", "Anthropic cannot be found: there is no server named api.anthropic.com."],
  ["ECONNREFUSED", "Anthropic does not accept connections at api.anthropic.com."],
  ["EAI_AGAIN", "Anthropic could not be reached at api.anthropic.com in time."],
])("%s at the vendor's own address is about the way there", (code, text) => {
  const endpoint = testEndpoint("", { provider: "anthropic", baseUrl: null });
  const error = providerError(Object.assign(new Error("no"), { code }), endpoint, "claude-haiku-4-5", "api.anthropic.com", 0);
  expect(error.message).toBe(`${text} Check that this install reaches the internet (LLM key "Main", model claude-haiku-4-5).`);
});

test("an answer with content filter results before it is read, as Azure streams it", async () => {
  const server = await serveHttp((response) => stream(response, { choices: [], prompt_filter_results: [] }, delta("hi"), answered("")));
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ text: "hi" });
});

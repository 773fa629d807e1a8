import { expect, test } from "vitest";
import type { ChatClock } from "#server/llm/chat.ts";
import type { CallAttempt } from "#server/shared/call-attempts.ts";
import { answered, ask, delta, failure, json, refuse, TEST_KEY, testClock, testEndpoint } from "#server/testing/ask-model.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { setAbsentProxy } from "#server/testing/proxy-server.ts";
import { serveHttp, startHttpServer } from "#server/testing/start-http-server.ts";

const models = testModelServer();

test("tries again after 5xx with growing pauses, and gives the answer that comes at last", async () => {
  const clock = testClock();
  await expect(ask(models.url, { model: "flaky-2", retries: 2, clock })).resolves.toMatchObject({ text: "Echo: one two" });
  expect(clock.slept).toEqual([500, 1000]);
});

test("gives up after the last try with the provider's own words", async () => {
  const error = await failure(ask(models.url, { model: "status-503", retries: 2 }));
  expect(error.message).toBe(
    'OpenAI-compatible answered 503: The engine is currently overloaded, please try again later. The fault is on the provider\'s side (model status-503, LLM key "Main"): try again later.',
  );
  expect([error.code, error.status, models.calls().length]).toEqual(["UPSTREAM_ERROR", 503, 3]);
});

test.each([400, 401, 403, 404, 422])("a %i is final", async (status) => {
  const error = await failure(ask(models.url, { model: `status-${status}`, retries: 3 }));
  expect([error.status, models.calls().length]).toEqual([status, 1]);
});

test("waits as long as a 429 asks", async () => {
  const clock = testClock();
  const server = await serveHttp((response, index) =>
    index === 0 ? refuse(response, 429, "slow down", { "retry-after": "7" }) : json(response, 200, answered("ok")),
  );
  await expect(ask(server.url, { retries: 1, clock })).resolves.toMatchObject({ text: "ok" });
  expect(clock.slept).toEqual([7000]);
});

test("understands a Retry-After that is a date", async () => {
  const clock = testClock();
  const at = new Date(clock.now() + 9000).toUTCString();
  const server = await serveHttp((response, index) =>
    index === 0 ? refuse(response, 429, "slow down", { "retry-after": at }) : json(response, 200, answered("ok")),
  );
  await ask(server.url, { retries: 1, clock });
  expect(clock.slept).toEqual([9000]);
});

test("does not wait for a Retry-After beyond the time that is left", async () => {
  const clock = testClock();
  const server = await serveHttp((response) => refuse(response, 429, "Rate limit reached.", { "retry-after": "90" }));
  const error = await failure(ask(server.url, { retries: 3, clock }));
  expect(error.message).toBe(
    'OpenAI-compatible answered 429: Rate limit reached. The LLM key "Main" is at its limit for echo: wait 90 seconds, or use another key or model.',
  );
  expect([clock.slept, server.requests.length]).toEqual([[], 1]);
});

test("a quota that is used up is final", async () => {
  const server = await serveHttp((response) =>
    json(response, 429, { error: { message: "You exceeded your current quota.", code: "insufficient_quota" } }),
  );
  await failure(ask(server.url, { retries: 3 }));
  expect(server.requests.length).toBe(1);
});

test("after a line that drops in the middle, the viewer starts anew with the second try", async () => {
  const seen: string[] = [];
  const server = await serveHttp((response, index) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify(delta(`try ${index}`))}\n\n`, () =>
      index === 0 ? response.destroy() : response.end("data: [DONE]\n\n"),
    );
  });
  const result = await ask(server.url, { retries: 1, onDelta: (piece) => seen.push(piece), onRestart: () => seen.push("(restart)") });
  expect(result.text).toBe("try 1");
  expect(seen).toEqual(["try 0", "(restart)", "try 1"]);
});

test("a stream that just ends, without the end of the answer, is a lost connection", async () => {
  const server = await serveHttp((response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(delta("ha"))}\n\n`),
  );
  const error = await failure(ask(server.url, { retries: 1, onDelta: () => undefined, onRestart: () => undefined }));
  expect(error.message).toBe(
    'The connection to OpenAI-compatible broke off in the middle of the answer (model echo, LLM key "Main"). Try again.',
  );
  expect(server.requests.length).toBe(2);
});

test("where nothing can be taken back, an answer that broke off after its first piece is not asked for again", async () => {
  const error = await failure(ask(models.url, { model: "drop-mid-stream", retries: 3, onDelta: () => undefined }));
  expect([error.isRetryable, models.calls().length]).toEqual([true, 1]);
});

test("a server that nobody runs is named with its address", async () => {
  const server = await startHttpServer(() => undefined);
  await server.stop();
  const error = await failure(ask(`${server.url}/v1`));
  expect(error.message).toBe(
    `OpenAI-compatible does not accept connections at ${new URL(server.url).host}. Check the base URL of the LLM key "Main" (model echo).`,
  );
  expect([error.status, error.isRetryable]).toEqual([undefined, true]);
});

test("names the proxy when it cannot be reached", async () => {
  setAbsentProxy();

  const error = await failure(ask(models.url));

  expect(error.message).toBe(
    'OpenAI-compatible was not reached. The proxy at http://127.0.0.1:1 does not accept connections. Check OUTGOING_PROXY, and that the proxy runs. LLM key "Main", model echo.',
  );
  expect(error.isRetryable).toBe(true);
});

test.each([true, false])("garbage is called garbage (streaming: %s)", async (isStreaming) => {
  const error = await failure(
    ask(models.url, { model: "garbage", retries: 3, max_tokens: 100, ...(isStreaming && { onDelta: () => undefined }) }),
  );
  expect(error.message).toBe(
    'OpenAI-compatible sent an answer that is not a chat completion; it begins with: <html>this is not JSON. Check the base URL of the LLM key "Main" (model garbage).'.replace(
      "JSON. Check",
      isStreaming ? "JSON. Check" : "JSON</html>. Check",
    ),
  );
  expect(models.calls().length).toBe(1);
});

test.each([{}, { choices: [] }, [], "text", null])("JSON without an answer (%j) is no answer", async (body) => {
  const server = await serveHttp((response) => json(response, 200, body));
  expect((await failure(ask(server.url))).message).toContain("not a chat completion");
});

test("an error inside a stream is told in its own words, and tried again when it may pass", async () => {
  const server = await serveHttp((response, index) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      `data: ${JSON.stringify({ error: { code: index === 0 ? 502 : 400, message: index === 0 ? "upstream is away" : "context too long" } })}\n\n`,
    );
  });
  const error = await failure(ask(server.url, { retries: 3, onDelta: () => undefined }));
  expect(error.message).toMatch(
    /^OpenAI-compatible answered 400: context too long. The conversation is longer than the model echo can read/,
  );
  expect(server.requests.length).toBe(2);
});

test("a redirect is not followed; the error says where it leads", async () => {
  const server = await serveHttp((response) =>
    response.writeHead(308, { location: "https://models.example.com/v1/chat/completions?key=1" }).end(),
  );
  expect((await failure(ask(server.url))).message).toBe(
    'OpenAI-compatible answered 308: It redirects to https://models.example.com/v1/chat/completions. Put the final address into a new LLM key in place of "Main" (model echo).',
  );
});

test.each([
  ["wrong key", 401, { error: { message: "Incorrect API key provided" } }, "Incorrect API key provided. Check"],
  ["FastAPI", 422, { detail: [{ loc: ["body", "temperature"], msg: "must be lower" }] }, "body.temperature: must be lower. Leave"],
  ["Google's list", 400, [{ error: { code: 400, message: "API key not valid." } }], "API key not valid. Check"],
  ["a bare text", 400, "no such thing", "no such thing. Check"],
  ["a page", 502, "<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway. The fault"],
  ["nothing", 500, "", "answered 500 without saying why. The fault"],
])("finds the words of an error in %s", async (_, status, body, words) => {
  const server = await serveHttp((response) => response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body)));
  expect((await failure(ask(server.url))).message).toContain(words);
});

test.each([
  `Incorrect API key provided: ${TEST_KEY}.`,
  `header was Authorization: Bearer ${TEST_KEY}`,
  `encoded ${Buffer.from(TEST_KEY).toString("base64")}`,
  `somebody else's Bearer abcdef123456`,
])("the key never shows in an error: %s", async (message) => {
  const server = await serveHttp((response) => refuse(response, 401, message));
  const error = await failure(ask(server.url));
  expect(JSON.stringify([error.message, error.words, error.stack, error.cause])).not.toMatch(
    /sk-test-4f2c9a7b1e|abcdef123456|c2stdGVzdC00ZjJjOWE3YjFl/,
  );
  expect(error.message).toContain("••••");
});

test("a key of one letter does not garble the error", async () => {
  const server = await serveHttp((response) => refuse(response, 401, "the key x is not expected here"));
  const error = await failure(ask("", { endpoint: testEndpoint(server.url, { apiKey: "x" }) }));
  expect(error.words).toBe("the key •••• is not expected here");
});

test("an abort ends the call in the middle of the answer, and the request with it", async () => {
  const stop = new AbortController();
  const call = ask(models.url, {
    model: "gate-abort",
    signal: stop.signal,
    retries: 3,
    onDelta: () => stop.abort(new Error("cancelled by somebody")),
  });
  await expect(call).rejects.toThrow("cancelled by somebody");
  await expect.poll(() => models.calls().map((seen) => seen.outcome)).toEqual(["aborted"]);
});

test("an abort ends a pause between tries", async () => {
  const stop = new AbortController();
  const clock: ChatClock = {
    ...testClock(),
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        stop.abort(new Error("cancelled by somebody"));
      }),
  };
  await expect(ask(models.url, { model: "status-500", signal: stop.signal, retries: 3, clock })).rejects.toThrow("cancelled by somebody");
  expect(models.calls().length).toBe(1);
});

test("nothing is asked when the signal has fired before", async () => {
  await expect(ask(models.url, { signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
  expect(models.calls()).toEqual([]);
});

test("the time runs out over a model that never answers", async () => {
  const error = await failure(ask(models.url, { model: "hang", timeoutMs: 100, retries: 3 }));
  expect(error.message).toBe(
    'OpenAI-compatible did not finish its answer within 0.1 seconds (model hang, LLM key "Main"). Allow more time, or ask for less.',
  );
});

test("a private address is refused to an endpoint that has no leave for it", async () => {
  const error = await failure(ask("", { endpoint: testEndpoint(models.url, { reach: "public" }), retries: 3 }));
  expect(error.message).toContain("OpenAI-compatible was not called. The address 127.0.0.1");
  expect(models.calls()).toEqual([]);
});

test("reports each try of a request that is repeated", async () => {
  const reported: CallAttempt[] = [];
  const clock = testClock();

  await ask(models.url, { model: "flaky-2", retries: 2, clock, onAttempt: (attempt) => reported.push(attempt) });

  expect(reported.map(({ error }) => error)).toEqual([expect.any(String), expect.any(String), null]);
});

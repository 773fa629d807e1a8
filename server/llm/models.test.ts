import { beforeAll, expect, test } from "vitest";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { type ProviderId, providerKind } from "#server/llm/kinds.ts";
import { checkKey, listProviderModels } from "#server/llm/models.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { setSettings } from "#server/platform/settings.ts";
import { json } from "#server/testing/ask-model.ts";
import { type HttpServer, serveHttp } from "#server/testing/start-http-server.ts";

beforeAll(() => setSettings({ ALLOW_PRIVATE_NETWORK: "1" }));

const endpoint = (provider: ProviderId, baseUrl: string | null): ModelEndpoint => ({
  provider,
  apiKey: "the-key",
  baseUrl,
  apiVersion: null,
  keyName: "Main",
  reach: "any",
});

const serve = (body: unknown, status = 200): Promise<HttpServer> => serveHttp((response) => json(response, status, body));

/** A fetch whose every host is the test's server; what was asked is in its `requests`. */
const towards =
  (target: HttpServer, asked: string[]): ReturnType<typeof guardedFetch> =>
  (input, init) => {
    const url = new URL(String(input));
    asked.push(url.origin);
    return guardedFetch("any")(`${target.url}${url.pathname}${url.search}`, init);
  };

test("lists what the endpoint offers, live", async () => {
  const models = await startModelServer();
  const list = await listProviderModels(endpoint("openai_compatible", models.url));
  expect(list.source).toBe("live");
  expect(list.models).toContainEqual({ id: "echo" });
  await models.stop();
});

test("OpenAI's list comes newest first and without what cannot chat", async () => {
  const target = await serve({
    data: [
      { id: "gpt-4.1", created: 1 },
      { id: "gpt-5", created: 2 },
      { id: "text-embedding-3-small", created: 3 },
      { id: "whisper-1", created: 4 },
    ],
  });
  const asked: string[] = [];
  await expect(listProviderModels(endpoint("openai", null), { fetch: towards(target, asked) })).resolves.toEqual({
    source: "live",
    models: [{ id: "gpt-5" }, { id: "gpt-4.1" }],
  });
  expect([asked, target.requests[0]?.path, target.requests[0]?.headers.authorization]).toEqual([
    ["https://api.openai.com"],
    "/v1/models",
    "Bearer the-key",
  ]);
});

test("Anthropic's own listing takes its own headers and tells names", async () => {
  const target = await serve({ data: [{ id: "claude-haiku-4-5", display_name: "Claude Haiku 4.5" }] });
  await expect(listProviderModels(endpoint("anthropic", null), { fetch: towards(target, []) })).resolves.toEqual({
    source: "live",
    models: [{ id: "claude-haiku-4-5", label: "Claude Haiku 4.5" }],
  });
  expect(target.requests[0]).toMatchObject({
    path: "/v1/models?limit=1000",
    headers: { "x-api-key": "the-key", "anthropic-version": "2023-06-01" },
  });
});

test("Google's ids come without their folder", async () => {
  const target = await serve({ data: [{ id: "models/gemini-2.5-pro" }, { id: "models/gemini-embedding-001" }] });
  await expect(listProviderModels(endpoint("gemini", null), { fetch: towards(target, []) })).resolves.toEqual({
    source: "live",
    models: [{ id: "gemini-2.5-pro" }],
  });
  expect(target.requests[0]?.path).toBe("/v1beta/openai/models");
});

test("Mistral's list is without models that do not chat, each once", async () => {
  const target = await serve({
    data: [
      { id: "mistral-large-latest", capabilities: { completion_chat: true } },
      { id: "mistral-ocr", capabilities: { completion_chat: false } },
      { id: "mistral-large-latest" },
    ],
  });
  await expect(listProviderModels(endpoint("mistral", null), { fetch: towards(target, []) })).resolves.toEqual({
    source: "live",
    models: [{ id: "mistral-large-latest" }],
  });
});

test("Hugging Face lists the hub's popular warm models", async () => {
  const target = await serve([{ id: "Qwen/Qwen3-8B", modelId: "Qwen/Qwen3-8B" }]);
  const asked: string[] = [];
  await expect(listProviderModels(endpoint("huggingface", null), { fetch: towards(target, asked) })).resolves.toEqual({
    source: "live",
    models: [{ id: "Qwen/Qwen3-8B" }],
  });
  const query = new URLSearchParams(target.requests[0]?.path.split("?")[1]);
  expect([asked[0], query.get("inference"), query.get("pipeline_tag")]).toEqual(["https://huggingface.co", "warm", "text-generation"]);
});

test.each(["", "/openai", "/openai/v1"])("an Azure resource at %j lists its deployments", async (path) => {
  const target = await serve({
    data: [
      { id: "my-gpt", model: "gpt-5", status: "succeeded" },
      { id: "broken", model: "gpt-5", status: "failed" },
    ],
  });
  await expect(listProviderModels(endpoint("azure", `${target.url}${path}`))).resolves.toEqual({
    source: "live",
    models: [{ id: "my-gpt", label: "gpt-5" }],
  });
  expect(target.requests[0]).toMatchObject({
    path: "/openai/deployments?api-version=2023-03-15-preview",
    headers: { "api-key": "the-key" },
  });
});

test.each([
  ["a refusal", { error: "no" }, 401],
  ["another format", { hello: true }, 200],
  ["an empty list", { data: [] }, 200],
])("%s leads to the curated list", async (_, body, status) => {
  const target = await serve(body, status);
  await expect(listProviderModels(endpoint("openai", `${target.url}/v1`))).resolves.toEqual({
    source: "curated",
    models: providerKind("openai").curatedModels.map((id) => ({ id })),
  });
});

test("a vendor that does not answer in time leads to the curated list", async () => {
  const server = await serveHttp(() => undefined);
  await expect(listProviderModels(endpoint("azure", server.url), { timeoutMs: 50 })).resolves.toEqual({ source: "curated", models: [] });
});

test.each([
  ["openai", 200, { data: [] }, undefined],
  [
    "openai",
    401,
    { error: { message: "Incorrect API key provided: the-key." } },
    "This key was refused by OpenAI (401): Incorrect API key provided: ••••.",
  ],
  ["openai", 403, {}, "This key was refused by OpenAI (403)."],
  [
    "gemini",
    400,
    [{ error: { code: 400, message: "API key not valid. Please pass a valid API key." } }],
    "This key was refused by Google Gemini (400): API key not valid. Please pass a valid API key.",
  ],
  [
    "huggingface",
    401,
    { error: "Invalid credentials in Authorization header" },
    "This key was refused by Hugging Face (401): Invalid credentials in Authorization header.",
  ],
  // Busy, or no list there: neither speaks against the key.
  ["mistral", 429, { message: "Requests rate limit exceeded" }, undefined],
  ["openai", 404, {}, undefined],
  ["openai", 402, { message: "Payment required" }, "This key could not be checked. OpenAI answered 402: Payment required."],
  ["openai", 503, "<html><title>Down</title>", "This key could not be checked. OpenAI answered 503: Down."],
] as const)("a key of %s is checked by one call that costs nothing, answered %i", async (provider, status, body, said) => {
  const target = await serve(body, status);
  const asked: string[] = [];
  const checked = checkKey(endpoint(provider, null), { fetch: towards(target, asked) });
  if (said === undefined) await checked;
  else await expect(checked).rejects.toMatchObject({ code: "UPSTREAM_ERROR", message: said });
  expect([target.requests.length, target.requests[0]?.headers.authorization]).toEqual([1, "Bearer the-key"]);
  expect(target.requests[0]?.path).toMatch(provider === "huggingface" ? /whoami/ : /models$/);
});

test("a key whose provider is not there is not taken unseen, and the reason is told", async () => {
  const away = await serve({});
  await away.stop();
  const told: string[] = [];
  await expect(checkKey(endpoint("openai_compatible", away.url))).rejects.toMatchObject({
    message: expect.stringMatching(
      /^This key could not be checked\. OpenAI-compatible does not accept connections at (127\.0\.0\.1|localhost):\d+\.$/,
    ),
  });
  await listProviderModels(endpoint("openai_compatible", away.url), { onProblem: ({ text }) => told.push(text) });
  expect(told).toEqual([expect.stringContaining("does not accept connections")]);
});

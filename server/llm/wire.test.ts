import { beforeAll, describe, expect, test } from "vitest";
import type { ChatRequest } from "#server/llm/chat.ts";
import { baseUrlOf, openModelClient } from "#server/llm/client.ts";
import { type ProviderId, providerIds, providerKind } from "#server/llm/kinds.ts";
import { setSettings } from "#server/platform/settings.ts";
import { answered, ask, delta, json, stream, TEST_KEY, testEndpoint } from "#server/testing/ask-model.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

// What goes over the wire to each vendor, next to what the vendor's documentation shows. A body is compared as text, to
// the byte, so that a field more or a field less shows here before a vendor refuses it.

beforeAll(() => setSettings({ ALLOW_PRIVATE_NETWORK: "1" }));

interface Wire {
  /** The vendor's address as documented; for kinds without one, an address as a user types it. */
  base: string;
  /** Path and query of a chat completion there. */
  path: string;
  /** Header that carries the key, and what it holds. */
  auth: readonly [name: string, value: string];
  /** Prefix as GET /llm-providers shows it (specification, Model listing, 7). */
  prefix: string | null;
  /** A model as people type it, and as the vendor knows it. */
  models: readonly (readonly [typed: string, sent: string])[];
  limitField: "max_tokens" | "max_completion_tokens";
  /** What a streamed request holds beside `"stream":true`. */
  streaming: string;
  /** Whether a JSON Schema goes in `response_format`; else in words. */
  isSchemaNative: boolean;
}

const bearer = ["authorization", `Bearer ${TEST_KEY}`] as const;
const askingForUsage = ',"stream_options":{"include_usage":true}';

const documented = {
  // https://platform.claude.com/docs/en/api/openai-sdk: base URL, fields; response_format is ignored there.
  anthropic: {
    base: "https://api.anthropic.com/v1",
    path: "/v1/chat/completions",
    auth: bearer,
    prefix: null,
    models: [["claude-haiku-4-5", "claude-haiku-4-5"]],
    limitField: "max_tokens",
    streaming: askingForUsage,
    isSchemaNative: false,
  },
  // https://platform.openai.com/docs/api-reference/chat/create: max_tokens is deprecated and not taken by reasoning models.
  openai: {
    base: "https://api.openai.com/v1",
    path: "/v1/chat/completions",
    auth: bearer,
    prefix: null,
    models: [["gpt-5.1", "gpt-5.1"]],
    limitField: "max_completion_tokens",
    streaming: askingForUsage,
    isSchemaNative: true,
  },
  // https://ai.google.dev/gemini-api/docs/openai and https://ai.google.dev/api/compatibility: ids need no "models/".
  gemini: {
    base: "https://generativelanguage.googleapis.com/v1beta/openai",
    path: "/v1beta/openai/chat/completions",
    auth: bearer,
    prefix: "gemini/",
    models: [
      ["gemini-2.5-pro", "gemini-2.5-pro"],
      ["gemini/gemini-2.5-pro", "gemini-2.5-pro"],
    ],
    limitField: "max_tokens",
    streaming: askingForUsage,
    isSchemaNative: true,
  },
  // https://docs.mistral.ai/api/endpoint/chat: max_tokens; fields that are not listed are refused (extra_forbidden).
  mistral: {
    base: "https://api.mistral.ai/v1",
    path: "/v1/chat/completions",
    auth: bearer,
    prefix: "mistral/",
    models: [
      ["mistral-large-latest", "mistral-large-latest"],
      ["mistral/mistral-large-latest", "mistral-large-latest"],
    ],
    limitField: "max_tokens",
    streaming: "",
    isSchemaNative: true,
  },
  // https://huggingface.co/docs/inference-providers/tasks/chat-completion: router, `owner/name` with `:provider` behind it.
  huggingface: {
    base: "https://router.huggingface.co/v1",
    path: "/v1/chat/completions",
    auth: bearer,
    prefix: "huggingface/",
    models: [
      ["openai/gpt-oss-120b:cerebras", "openai/gpt-oss-120b:cerebras"],
      ["huggingface/Qwen/Qwen3-8B", "Qwen/Qwen3-8B"],
      ["huggingface/chatty-1b", "huggingface/chatty-1b"],
    ],
    limitField: "max_tokens",
    streaming: askingForUsage,
    isSchemaNative: true,
  },
  // https://learn.microsoft.com/azure/ai-foundry/openai/reference#chat-completions
  azure: {
    base: "https://resource.openai.azure.com/openai",
    path: "/openai/deployments/support-gpt/chat/completions?api-version=2024-10-21",
    auth: ["api-key", TEST_KEY],
    prefix: "azure/",
    models: [
      ["support-gpt", "support-gpt"],
      ["azure/support-gpt", "support-gpt"],
    ],
    limitField: "max_tokens",
    streaming: askingForUsage,
    isSchemaNative: true,
  },
  // The common format: https://platform.openai.com/docs/api-reference/chat/create, with the field that all servers know
  // (https://docs.vllm.ai/en/latest/serving/openai_compatible_server/). Ids go as typed: gateways have ids like openai/gpt-oss.
  openai_compatible: {
    base: "https://models.example.com/v1",
    path: "/v1/chat/completions",
    auth: bearer,
    prefix: "openai/",
    models: [
      ["llama3.2:3b", "llama3.2:3b"],
      ["openai/gpt-oss", "openai/gpt-oss"],
    ],
    limitField: "max_tokens",
    streaming: askingForUsage,
    isSchemaNative: true,
  },
} satisfies Partial<Record<ProviderId, Wire>>;
/** Kinds whose wire was read up in the vendor's documents. */
const documentedKinds = Object.keys(documented) as (keyof typeof documented)[]; // cast: the keys of a literal

/** The common format, as the row of a kind describes it. */
function wireByRow(provider: ProviderId): Wire {
  const { baseUrl, routingPrefix, tokenLimitField, hasStreamOptions, structuredOutput, curatedModels } = providerKind(provider);
  const base = (baseUrl ?? "https://models.example.com/v1").replace(/\/$/, "");
  const model = curatedModels[0] ?? "any-model";
  return {
    base,
    path: `${new URL(base).pathname.replace(/\/$/, "")}/chat/completions`,
    auth: bearer,
    prefix: routingPrefix,
    models: [[model, model], ...(routingPrefix ? [[`${routingPrefix}${model}`, model] as const] : [])],
    limitField: tokenLimitField,
    streaming: hasStreamOptions ? askingForUsage : "",
    isSchemaNative: structuredOutput !== "never",
  };
}

const wires: Partial<Record<ProviderId, Wire>> = documented;
const wireOf = (provider: ProviderId): Wire => wires[provider] ?? wireByRow(provider);
const typedBase = (provider: ProviderId) => (providerKind(provider).baseUrl === null ? wireOf(provider).base : null);

/** Sends a question to a server with the vendor's path, and tells what arrived there. */
async function sentTo(provider: ProviderId, more: Partial<ChatRequest>) {
  const server = await serveHttp((response, _, request) =>
    (request.body as { stream: boolean }).stream ? stream(response, delta("ok")) : json(response, 200, answered("ok")),
  );
  const endpoint = testEndpoint(`${server.url}${new URL(wireOf(provider).base).pathname}`, { provider });
  await ask("", { endpoint, model: wireOf(provider).models[0]?.[0] ?? "", ...more });
  expect(server.requests.length).toBe(1);
  const { method, path, headers, body } = server.requests[0] ?? { method: "", path: "", headers: {}, body: {} };
  const text = JSON.stringify(body);
  // No blank, no escape that is not needed: what was read back is what was sent.
  expect(headers["content-length"]).toBe(`${Buffer.byteLength(text)}`);
  return { method, path, headers, text };
}

const parameters = { type: "object", properties: { q: { type: "string" } }, required: ["q"], additionalProperties: false };
const tool = {
  name: "find",
  description: "Finds.",
  parameters: { $schema: "https://json-schema.org/draft/2020-12/schema", ...parameters },
};
const user = '{"role":"user","content":"one two"}';
const inWords = JSON.stringify(
  `Answer with one JSON value and nothing else: no introduction, no code fence. It must follow this JSON Schema:\n${JSON.stringify(parameters)}`,
);

/** Each way of asking, and the body that it makes for a vendor. */
const asks: Record<string, { more: Partial<ChatRequest>; body(wire: Wire, model: string): string }> = {
  plain: { more: {}, body: (_, model) => `{"model":"${model}","messages":[${user}],"stream":false}` },
  streaming: {
    more: { onDelta: () => undefined },
    body: ({ streaming }, model) => `{"model":"${model}","messages":[${user}],"stream":true${streaming}}`,
  },
  "temperature and longest answer": {
    more: { temperature: 0.2, max_tokens: 64 },
    body: ({ limitField }, model) => `{"model":"${model}","messages":[${user}],"temperature":0.2,"${limitField}":64,"stream":false}`,
  },
  "JSON Schema": {
    more: { answerSchema: parameters },
    body: ({ isSchemaNative }, model) =>
      isSchemaNative
        ? `{"model":"${model}","messages":[${user}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":${JSON.stringify(parameters)},"strict":true}},"stream":false}`
        : `{"model":"${model}","messages":[{"role":"system","content":${inWords}},${user}],"stream":false}`,
  },
};

const offered = `"tools":[{"type":"function","function":{"name":"find","description":"Finds.","parameters":${JSON.stringify(parameters)}}}]`;

describe.each(providerIds)("%s", (provider) => {
  const wire = wireOf(provider);
  const model = wire.models[0]?.[1] ?? "";

  test("is called at its documented address", () => {
    const endpoint = testEndpoint("", { provider, baseUrl: typedBase(provider) });
    expect(baseUrlOf(endpoint)).toBe(wire.base);
    expect(openModelClient(endpoint).client.baseURL).toBe(wire.base);
  });

  test.each(Object.keys(asks))("a call, %s", async (name) => {
    const { more, body } = asks[name] ?? { more: {}, body: () => "" };
    const { method, path, headers, text } = await sentTo(provider, more);
    expect(`${method} ${path}`).toBe(`POST ${wire.path}`);
    const [header, value] = wire.auth;
    expect(headers[header]).toBe(value);
    expect(Object.entries(headers).flatMap(([key, held]) => (String(held).includes(TEST_KEY) ? [key] : []))).toEqual([header]);
    expect(headers["content-type"]).toBe("application/json");
    expect(headers["user-agent"]).toBe("Treadle/1.0");
    expect(Object.keys(headers).filter((key) => key.startsWith("x-"))).toEqual([]);
    expect(text).toBe(body(wire, model));
  });

  if (providerKind(provider).supportsTools)
    test("a round of tools", async () => {
      const call = { id: "abcdefghi", name: "find", args: { q: "x" }, isMalformed: false };
      const { text } = await sentTo(provider, {
        tools: [tool],
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "one two" },
          { role: "assistant", content: "", toolCalls: [call] },
          { role: "tool", toolCallId: call.id, content: "found" },
        ],
      });
      const asked = `{"role":"assistant","content":null,"tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"find","arguments":"{\\"q\\":\\"x\\"}"}}]}`;
      const result = '{"role":"tool","tool_call_id":"abcdefghi","content":"found"}';
      expect(text).toBe(
        `{"model":"${model}","messages":[{"role":"system","content":"Be brief."},${user},${asked},${result}],${offered},"stream":false}`,
      );
    });

  test.each(wire.models)("the model %s goes over the wire as %s", async (typed, sent) => {
    const { path, text } = await sentTo(provider, { model: typed });
    expect(JSON.parse(text)).toMatchObject({ model: sent });
    expect(path).toBe(wire.path);
  });

  test("shows the routing prefix that the specification names", () => {
    expect(providerKind(provider).routingPrefix).toBe(wire.prefix);
  });
});

test("with tools, a schema goes in its own field only where a vendor takes both", async () => {
  const native: ProviderId[] = [];
  for (const provider of documentedKinds.filter((id) => providerKind(id).supportsTools)) {
    const { text } = await sentTo(provider, { answerSchema: parameters, tools: [tool] });
    if (text.includes('"response_format"')) native.push(provider);
    else expect(text).toContain("It must follow this JSON Schema");
  }
  expect(native).toEqual(["openai", "azure"]);
});

// https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: no version in the query, the deployment in the body.
test("Azure's API without versions is asked with the same header", async () => {
  const server = await serveHttp((response) => json(response, 200, answered("ok")));
  await ask("", { endpoint: testEndpoint(`${server.url}/openai/v1/`, { provider: "azure" }), model: "azure/support-gpt" });
  expect(server.requests[0]).toMatchObject({ path: "/openai/v1/chat/completions", body: { model: "support-gpt" } });
  const { authorization, "api-key": key } = server.requests[0]?.headers ?? {};
  expect([authorization, key]).toEqual([undefined, TEST_KEY]);
});

test("a deployment's name cannot leave its place in the path", async () => {
  const server = await serveHttp((response) => json(response, 200, answered("ok")));
  await ask("", { endpoint: testEndpoint(server.url, { provider: "azure" }), model: "a b/c?d" });
  expect(server.requests[0]?.path).toBe("/openai/deployments/a%20b%2Fc%3Fd/chat/completions?api-version=2024-10-21");
});

test("keys that lead to one address side by side: each question goes with its own", async () => {
  const server = await serveHttp((response) => json(response, 200, answered("ok")));
  const keys = Array.from({ length: 20 }, (_, index) => `key-number-${index}`);
  for (const [provider, base, header] of [
    ["openai", server.url, "authorization"],
    ["azure", server.url, "api-key"],
    ["azure", `${server.url}/openai/v1`, "api-key"],
  ] as const) {
    server.requests.length = 0;
    const endpoint = testEndpoint(base, { provider });
    await Promise.all(keys.map((apiKey) => ask("", { endpoint: { ...endpoint, apiKey }, messages: [{ role: "user", content: apiKey }] })));
    const sent = server.requests.map(({ headers, body }) => [
      headers[header],
      (body as { messages: { content: string }[] }).messages[0]?.content,
    ]);
    expect(sent.sort()).toEqual(keys.map((key) => [header === "api-key" ? key : `Bearer ${key}`, key]).sort());
  }
});

test("a tool that takes nothing has an object without fields, and a long description is cut where the vendor has a limit", async () => {
  const tools = [{ name: "now", description: "x".repeat(1100), parameters: { type: "object" } }];
  for (const [provider, length] of [
    ["openai", 1024],
    ["azure", 1024],
    ["anthropic", 1100],
  ] as const) {
    const { text } = await sentTo(provider, { tools });
    const [tool] = JSON.parse(text).tools;
    expect(tool.function.parameters).toEqual({ type: "object", properties: {} });
    expect([provider, tool.function.description.length]).toEqual([provider, length]);
  }
});

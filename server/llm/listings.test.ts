import { expect, test } from "vitest";
import { WRONG_KEY } from "#e2e/fakes/model-server.ts";
import { type ProviderId, providerKind } from "#server/llm/kinds.ts";
import { listProviderModels } from "#server/llm/models.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { json, TEST_KEY, testEndpoint } from "#server/testing/ask-model.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

// The listing of each vendor: what is asked where, next to the vendor's documentation, and what is made of its answer
// (e2e/fakes/vendor-listings.ts has the answers).

const models = testModelServer();

interface Asked {
  method: string;
  url: string;
  headers: Record<string, string>;
}

/** A fetch that takes a vendor's own address to the stand-in's dialect, and remembers what was asked. */
function towards(dialect: string): { asked: Asked[]; fetch: ReturnType<typeof guardedFetch> } {
  const asked: Asked[] = [];
  return {
    asked,
    fetch: (input, init) => {
      const url = new URL(String(input));
      asked.push({ method: init?.method ?? "GET", url: url.href, headers: Object.fromEntries(new Headers(init?.headers)) });
      return guardedFetch("any")(`http://127.0.0.1:${models.port}/${dialect}${url.pathname}${url.search}`, init);
    },
  };
}

const bearer = { authorization: `Bearer ${TEST_KEY}` };
const anthropicHeaders = { "x-api-key": TEST_KEY, "anthropic-version": "2023-06-01" };

interface Row {
  provider: ProviderId;
  baseUrl?: string;
  asked: { url: string; headers: Record<string, string> }[];
  listed: { id: string; label?: string }[];
}

const rows: Row[] = [
  // https://platform.claude.com/docs/en/api/models-list: pages of at most 1000, after_id while has_more.
  {
    provider: "anthropic",
    asked: [
      { url: "https://api.anthropic.com/v1/models?limit=1000", headers: anthropicHeaders },
      { url: "https://api.anthropic.com/v1/models?limit=1000&after_id=claude-sonnet-4-5", headers: anthropicHeaders },
    ],
    listed: [
      { id: "claude-opus-4-5", label: "Claude Opus 4.5" },
      { id: "claude-sonnet-4-5", label: "Claude Sonnet 4.5" },
      { id: "claude-haiku-4-5", label: "Claude Haiku 4.5" },
    ],
  },
  // https://platform.openai.com/docs/api-reference/models/list: one page, without an order.
  {
    provider: "openai",
    asked: [{ url: "https://api.openai.com/v1/models", headers: bearer }],
    listed: [{ id: "gpt-5.1" }, { id: "gpt-4.1" }],
  },
  // https://ai.google.dev/gemini-api/docs/openai#list-models
  {
    provider: "gemini",
    asked: [{ url: "https://generativelanguage.googleapis.com/v1beta/openai/models", headers: bearer }],
    listed: [{ id: "gemini-2.5-pro" }, { id: "gemini-2.5-flash" }],
  },
  // https://docs.mistral.ai/api/endpoint/models
  {
    provider: "mistral",
    asked: [{ url: "https://api.mistral.ai/v1/models", headers: bearer }],
    listed: [{ id: "mistral-large-latest" }],
  },
  // https://huggingface.co/docs/inference-providers/hub-api: open to all, so no key is sent.
  {
    provider: "huggingface",
    asked: [
      {
        url: "https://huggingface.co/api/models?inference=warm&pipeline_tag=text-generation&filter=conversational&sort=trendingScore&limit=100",
        headers: {},
      },
    ],
    listed: [{ id: "deepseek-ai/DeepSeek-V3-0324" }, { id: "Qwen/Qwen3-8B" }],
  },
  // https://learn.microsoft.com/rest/api/cognitiveservices/azureopenaistable/deployments/: no version after 2023-03-15-preview
  // lists with the key.
  ...["", "/", "/openai", "/openai/v1/"].map(
    (path): Row => ({
      provider: "azure",
      baseUrl: `https://resource.openai.azure.com${path}`,
      asked: [
        {
          url: "https://resource.openai.azure.com/openai/deployments?api-version=2023-03-15-preview",
          headers: { "api-key": TEST_KEY },
        },
      ],
      listed: [
        { id: "support-gpt", label: "gpt-5.1" },
        { id: "llama", label: "Llama-3.3-70B-Instruct" },
      ],
    }),
  ),
];

test.each(rows)("$provider $baseUrl", async ({ provider, baseUrl = null, asked, listed }) => {
  const { fetch, asked: sent } = towards(provider);
  const list = await listProviderModels(testEndpoint("", { provider, baseUrl }), { fetch });
  expect(sent).toEqual(asked.map((one) => ({ method: "GET", ...one })));
  expect(list).toEqual({ source: "live", models: listed });
});

test("a compatible endpoint is asked below its base URL, with its key", async () => {
  const server = await serveHttp((response) => json(response, 200, { data: [{ id: "llama3.2:3b" }, { id: "nomic-embed-text" }] }));
  const list = await listProviderModels(testEndpoint(`${server.url}/v1/`));
  expect(server.requests[0]).toMatchObject({ method: "GET", path: "/v1/models", headers: bearer });
  expect(list).toEqual({ source: "live", models: [{ id: "llama3.2:3b" }, { id: "nomic-embed-text" }] });
});

test.each(["openai", "mistral", "azure"] as const)("%s: a key that is refused leads to the curated list", async (provider) => {
  const endpoint = testEndpoint("", { provider, apiKey: WRONG_KEY, baseUrl: provider === "azure" ? "https://r.openai.azure.com" : null });
  const fetch: ReturnType<typeof guardedFetch> = async () => Response.json({ error: "no" }, { status: 401 });
  await expect(listProviderModels(endpoint, { fetch })).resolves.toEqual({
    source: "curated",
    models: providerKind(provider).curatedModels.map((id) => ({ id })),
  });
});

test("a resource that does not know the newer version is asked in the older one", async () => {
  const server = await serveHttp((response, _, { path }) =>
    path.endsWith("=2022-12-01")
      ? json(response, 200, { object: "list", data: [{ id: "support-gpt", model: "gpt-5.1", status: "succeeded" }] })
      : json(response, 404, { error: { code: "404", message: "Resource not found" } }),
  );
  await expect(listProviderModels(testEndpoint(server.url, { provider: "azure" }))).resolves.toEqual({
    source: "live",
    models: [{ id: "support-gpt", label: "gpt-5.1" }],
  });
  expect(server.requests.map(({ headers }) => headers["api-key"])).toEqual([TEST_KEY, TEST_KEY]);
});

test("a listing whose pages never end is cut", async () => {
  const server = await serveHttp((response, index) =>
    json(response, 200, {
      data: Array.from({ length: 400 }, (_, at) => ({ id: `model-${index}-${at}` })),
      has_more: true,
      last_id: `model-${index}-399`,
    }),
  );
  const list = await listProviderModels(testEndpoint(server.url));
  expect([list.source, list.models.length, server.requests.length]).toEqual(["live", 1000, 3]);
});

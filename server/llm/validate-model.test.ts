import { describe, expect, test } from "vitest";
import { dialects } from "#e2e/fakes/dialects.ts";
import { WRONG_KEY } from "#e2e/fakes/model-server.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { type ProviderId, providerIds, providerKind } from "#server/llm/kinds.ts";
import { validateModel } from "#server/llm/validate-model.ts";
import { json, testEndpoint } from "#server/testing/ask-model.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { serveHttp, startHttpServer } from "#server/testing/start-http-server.ts";

// What people read when an agent is saved with a key and a model that do not fit: for each kind of provider, in that
// vendor's own error shapes, one sentence for each cause that says what to do next.

const models = testModelServer();

function endpointOf(provider: ProviderId, more: Partial<ModelEndpoint> = {}): ModelEndpoint {
  const dialect = dialects[provider] ? `/${provider}` : "/openai";
  return testEndpoint(`http://127.0.0.1:${models.port}${dialect}${provider === "azure" ? "" : "/v1"}`, { provider, ...more });
}

const sentence = async (endpoint: ModelEndpoint, model: string, hasTools = false): Promise<string> =>
  validateModel(endpoint, { model, temperature: null, hasTools }).then(
    () => "It works.",
    (error: Error) => error.message,
  );

const NEXT = {
  wrongKey: (model: string) =>
    `Check the LLM key "Main" (model ${model}). If it is wrong or was revoked, an admin can replace it under LLM keys; agents that use it stay as they are.`,
  wrongModel: (model: string, provider: ProviderId) =>
    provider === "azure"
      ? `Check the model ${model}: give the name of a deployment in the resource of the LLM key "Main".`
      : `Check the model ${model}: choose one that is listed for the LLM key "Main", or correct the id.`,
  noTools: (model: string) =>
    `The model ${model} cannot call tools (LLM key "Main"): take tools, MCP servers and knowledge away from the agent, or choose another model.`,
};

interface Said {
  wrongKey: string;
  wrongModel: string;
  noTools: string;
}

const asOpenAi = (label: string): Said => ({
  wrongKey: `${label} answered 401: Incorrect API key provided: sk-12****89. You can find your API key at https://platform.openai.com/account/api-keys.`,
  wrongModel: `${label} answered 404: The model \`trouble-unknown-model\` does not exist or you do not have access to it.`,
  noTools: `${label} answered 400: Unsupported parameter: 'tools' is not supported with this model.`,
});

/** Of those that say it in other words than OpenAI. */
const inOtherWords: Partial<Record<ProviderId, Said>> = {
  anthropic: {
    wrongKey: "Anthropic answered 401: invalid x-api-key.",
    wrongModel: "Anthropic answered 404: model: trouble-unknown-model.",
    noTools: "Anthropic answered 400: 'trouble-no-tools' does not support tool use.",
  },
  gemini: {
    wrongKey: "Google Gemini answered 400: API key not valid. Please pass a valid API key.",
    wrongModel:
      "Google Gemini answered 404: models/trouble-unknown-model is not found for API version v1main, or is not supported for generateContent.",
    noTools: "Google Gemini answered 400: Function calling is not enabled for models/trouble-no-tools.",
  },
  mistral: {
    wrongKey: "Mistral answered 401: Unauthorized.",
    wrongModel: "Mistral answered 400: Invalid model: trouble-unknown-model.",
    noTools: "Mistral answered 400: Function calling is not enabled for this model.",
  },
  huggingface: {
    wrongKey: "Hugging Face answered 401: Invalid username or password.",
    wrongModel: "Hugging Face answered 400: The requested model 'trouble-unknown-model' is not supported by any provider you have enabled.",
    noTools: "Hugging Face answered 422: This provider does not support tools.",
  },
  azure: {
    wrongKey:
      "Azure AI answered 401: Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.",
    wrongModel:
      "Azure AI answered 404: The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
    noTools: "Azure AI answered 400: Unsupported parameter: 'tools' is not supported with this model.",
  },
};

describe.each(providerIds)("%s", (provider) => {
  const said = inOtherWords[provider] ?? asOpenAi(providerKind(provider).label);

  test("a model that works passes, with one call of few tokens", async () => {
    expect(await sentence(endpointOf(provider), "echo")).toBe("It works.");
    const probes = models.calls().filter(({ outcome }) => outcome === "answered");
    expect(probes.map(({ probe, stream, message }) => [probe, stream, message])).toEqual([[true, false, "Reply with OK."]]);
  });

  test("a wrong key", async () => {
    expect(await sentence(endpointOf(provider, { apiKey: WRONG_KEY }), "echo")).toBe(`${said.wrongKey} ${NEXT.wrongKey("echo")}`);
  });

  test("a wrong model", async () => {
    const model = "trouble-unknown-model";
    expect(await sentence(endpointOf(provider), model)).toBe(`${said.wrongModel} ${NEXT.wrongModel(model, provider)}`);
  });

  // An agent with tools on a kind without them is refused before any call; a model of another kind may have none either.
  test("no tool support", async () => {
    const model = "trouble-no-tools";
    expect(await sentence(endpointOf(provider), model, true)).toBe(`${said.noTools} ${NEXT.noTools(model)}`);
    models.reset();
    expect(await sentence(endpointOf(provider), model), "without tools it is fine").toBe("It works.");
  });

  test("a base URL where nobody answers", async () => {
    const away = await startHttpServer(() => undefined);
    await away.stop();
    const { host } = new URL(away.url);
    expect(await sentence(endpointOf(provider, { baseUrl: `${away.url}/v1` }), "echo")).toBe(
      `${providerKind(provider).label} does not accept connections at ${host}. Check the base URL of the LLM key "Main" (model echo).`,
    );
  });

  test("a base URL that is no model server", async () => {
    const page = await serveHttp((response) => response.writeHead(404).end("<html><head><title>404 Not Found</title></head></html>"));
    const address = provider === "azure" ? "the base URL and the API version" : "the base URL";
    expect(await sentence(endpointOf(provider, { baseUrl: page.url }), "echo")).toBe(
      `${providerKind(provider).label} answered 404: 404 Not Found. Check the model echo and ${address} of the LLM key "Main".`,
    );
  });
});

test("a name that does not resolve is told as such", async () => {
  const message = await sentence(testEndpoint("https://models.invalid/v1"), "echo");
  expect(message).toMatch(/^OpenAI-compatible (cannot be found: there is no server named|could not be reached at) models\.invalid/);
  expect(message).toContain('Check the base URL of the LLM key "Main" (model echo).');
});

test("a model that spends the few tokens on thinking passes", async () => {
  const server = await serveHttp((response) =>
    json(response, 400, {
      error: { message: "Could not finish the message because max_tokens or model output limit was reached. Please try again." },
    }),
  );
  expect(await sentence(endpointOf("openai", { baseUrl: server.url }), "gpt-5.1")).toBe("It works.");
});

test("a temperature that the model does not take is told in the vendor's words", async () => {
  const message = "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.";
  const server = await serveHttp((response) => json(response, 400, { error: { message, param: "temperature" } }));
  expect(await sentence(endpointOf("openai", { baseUrl: server.url }), "gpt-5.1")).toBe(
    `OpenAI answered 400: ${message} Leave the agent's temperature empty, or set one that the model gpt-5.1 takes (LLM key "Main").`,
  );
});

import { expect, test } from "vitest";
import { checkLlmKey } from "#server/features/llm-keys/check-llm-key.ts";
import type { CreateLlmKeyInput } from "#server/features/llm-keys/schema.ts";

const problems = (more: Partial<CreateLlmKeyInput>) =>
  checkLlmKey({ name: "Main", provider: "openai_compatible", api_key: "some-key", ...more });

test.each([
  { provider: "openai", api_key: "sk-123" },
  { provider: "anthropic", api_key: "sk-ant-123" },
  { provider: "huggingface", api_key: "hf_123" },
  { provider: "gemini", api_key: "AQ.Ab123" },
  { provider: "gemini", api_key: "AIza123" },
  { provider: "mistral", api_key: "anything" },
  { provider: "openai", api_key: "gateway-key", base_url: "http://192.168.1.5/v1" },
  { provider: "azure", base_url: "http://10.0.0.5", api_version: "2025-01-01-preview" },
  { provider: "azure", base_url: "http://10.0.0.5/openai/v1/" },
  { provider: "openai_compatible", base_url: "http://[::1]:11434/v1", api_key: "x" },
] as const)("%j is fine", (input) => {
  expect(problems(input)).toEqual([]);
});

test.each([
  [{ provider: "azure" }, "base_url", "Azure AI needs the base URL of the service."],
  [{ provider: "openai_compatible" }, "base_url", "OpenAI-compatible needs the base URL of the service."],
  [
    { provider: "azure", base_url: "https://r.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21" },
    "base_url",
    /single deployment.*https:\/\/r\.openai\.azure\.com,/,
  ],
  [{ provider: "azure", base_url: "https://r.openai.azure.com/openai/deployments/gpt" }, "base_url", /single deployment/],
  [{ provider: "azure", base_url: "https://r.openai.azure.com/?api-version=2024-10-21" }, "base_url", /single deployment/],
  [{ provider: "azure", base_url: "https://r.openai.azure.com/?API-Version=2024-10-21" }, "base_url", /single deployment/],
  ...[
    "OpenAI/Deployments/gpt/Chat/Completions",
    "OPENAI/DEPLOYMENTS/gpt",
    "deployments/gpt/chat/completions",
    "openai/v1/Deployments",
    "openai//deployments//gpt",
    "openai%2Fdeployments%2fgpt",
    "openai/%64eployments/gpt/chat/completions",
    "openai/%2564eployments/gpt",
    "openai/deployments%20/gpt",
    "gateway/openai/deployments/gpt/extensions/%",
  ].map((path) => [{ provider: "azure", base_url: `https://r.openai.azure.com/${path}` }, "base_url", /single deployment/] as const),
  [{ provider: "azure", base_url: "https://r.openai.azure.com/openai/deployments/" }, "base_url", /single deployment/],
  [
    { provider: "azure", base_url: "https://r.openai.azure.com/openai/v1/chat/completions" },
    "base_url",
    "Leave out /chat/completions: the base URL here is https://r.openai.azure.com/openai/v1.",
  ],
  [
    { base_url: "http://10.0.0.5/V1/Chat/Completions/" },
    "base_url",
    "Leave out /chat/completions: the base URL here is http://10.0.0.5/V1.",
  ],
  [
    { base_url: "http://10.0.0.5/v1/chat/completions" },
    "base_url",
    "Leave out /chat/completions: the base URL here is http://10.0.0.5/v1.",
  ],
  [{ base_url: "http://me:secret@10.0.0.5/v1" }, "base_url", /Leave the user name and password out/],
  [{ base_url: "http://10.0.0.5/v1?a=b" }, "base_url", /without what follows/],
  [{ provider: "openai", api_key: "gsk_123" }, "api_key", "A key of OpenAI starts with sk-. Check that key and provider belong together."],
  [{ provider: "anthropic", api_key: "sk-123" }, "api_key", /starts with sk-ant-/],
  [{ provider: "gemini", api_key: "sk-123" }, "api_key", /starts with AQ\. or AIza\./],
  [{ provider: "mistral", api_key: "two words" }, "api_key", /Copy it again/],
  [{ provider: "mistral", api_key: "ключ" }, "api_key", /Copy it again/],
  [{ provider: "mistral", api_version: "2024-10-21" }, "api_version", "Only Azure AI has an API version."],
] as const)("%j: %s", (input, path, message) => {
  expect(problems(input)).toEqual([{ path, message: typeof message === "string" ? message : expect.stringMatching(message) }]);
});

test("everything that is wrong is said at once", () => {
  const errors = problems({ api_key: "two words", api_version: "1" });
  expect(errors.map(({ path }) => path)).toEqual(["base_url", "api_key", "api_version"]);
});

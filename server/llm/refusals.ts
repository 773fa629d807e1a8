import type { ModelEndpoint } from "#server/llm/client.ts";

// What a vendor's refusal is about, told by its status and words, and what to do about each.

/**
 * `wrong_key`: the key is not accepted. `no_credit`: nothing is left to pay with. `unknown_model`: no such model.
 * `no_tools`: the model cannot call tools. `context_overflow`: more text than the model reads. `filtered`: the vendor's
 * content filter. `temperature`: the model takes only its own, or a smaller one.
 */
export type Refusal = "wrong_key" | "no_credit" | "no_tools" | "context_overflow" | "filtered" | "temperature" | "unknown_model";

// How vendors put it: OpenAI and those like it, Anthropic, Google, Mistral, Hugging Face, Azure, vLLM, llama.cpp, Ollama, OpenRouter.
const WRONG_KEY = /api[ _]key (is )?(not valid|invalid|expired|not found)|(invalid|incorrect) (x-)?api[ _-]key|api_key_invalid/i;
const NO_CREDIT =
  /insufficient[ _](quota|credits?|balance|funds)|credit balance is too low|exceeded your (monthly )?included credits|payment required/i;
const IN_WORDS = {
  no_tools:
    /not support (the )?(use of )?(tool|function)|support tool use|(tool|function)[ _-]?(use|call(ing|s)?|s)?['"`]? (is|are) (not |un)[ -]?(support|enabled)|tool choice requires|tools param requires/i,
  context_overflow:
    /context[ _-](length|window|size|limit)|maximum context|context (is )?too long|(prompt|input) is too long|input token count.{0,40}exceeds|tokens?`? \+ `?max_new_tokens/i,
  filtered: /content management policy|content_filter/i,
  temperature: /\btemperature\b/i,
  // Ids hold dots, so that only a dot before a blank ends the sentence.
  unknown_model:
    /(models?|deployment)\b(?:[^.]|\.(?!\s)){0,160}?(not found|not exist|not available|not a valid model|not supported by any provider)|(no such|unknown|invalid) model|not a valid model|not have access to (the )?model|^model: |model_not_found/i,
} as const;

/**
 * What a refusal is about, as far as that can be told.
 * @param words what the vendor said, for people
 * @param body the whole body, as text, for the codes beside the words
 */
export function refusalIn(status: number, words: string, body: string): Refusal | undefined {
  if (status < 400) return undefined;
  if (status === 401 || (status === 400 && WRONG_KEY.test(body))) return "wrong_key";
  if (status === 402 || NO_CREDIT.test(body)) return "no_credit";
  if (status === 403) return IN_WORDS.unknown_model.test(words) ? "unknown_model" : undefined;
  if (status === 429) return undefined;
  const found = (["no_tools", "context_overflow", "filtered", "temperature", "unknown_model"] as const).find((reason) =>
    IN_WORDS[reason].test(words),
  );
  // "The model is not available" with one of these means: just now.
  return found === "unknown_model" && [502, 503, 504, 529].includes(status) ? undefined : found;
}

const ADVICE: Record<Refusal, (model: string, endpoint: ModelEndpoint) => string> = {
  wrong_key: (model, { keyName }) =>
    `Check the LLM key "${keyName}" (model ${model}). If it is wrong or was revoked, an admin can replace it under LLM keys; agents that use it stay as they are.`,
  no_credit: (model, { keyName }) => `Check the balance behind the LLM key "${keyName}" (model ${model}), or choose another key.`,
  context_overflow: (model, { keyName }) =>
    `The conversation is longer than the model ${model} can read (LLM key "${keyName}"): shorten the message, its history or what the tools return, or choose a model with a larger context.`,
  no_tools: (model, { keyName }) =>
    `The model ${model} cannot call tools (LLM key "${keyName}"): take tools, MCP servers and knowledge away from the agent, or choose another model.`,
  filtered: (model, { keyName }) =>
    `A content filter refused the text (model ${model}, LLM key "${keyName}"): change the message or the agent's instructions.`,
  temperature: (model, { keyName }) =>
    `Leave the agent's temperature empty, or set one that the model ${model} takes (LLM key "${keyName}").`,
  unknown_model: (model, { keyName, provider }) =>
    provider === "azure"
      ? `Check the model ${model}: give the name of a deployment in the resource of the LLM key "${keyName}".`
      : `Check the model ${model}: choose one that is listed for the LLM key "${keyName}", or correct the id.`,
};

function addressOf({ provider, baseUrl, keyName }: ModelEndpoint): string {
  if (baseUrl === null) return `the LLM key "${keyName}"`;
  return `the base URL${provider === "azure" ? " and the API version" : ""} of the LLM key "${keyName}"`;
}

/** A time that somebody asks to wait, in words; a short one is tried out before anybody reads of it. */
function inWords(ms: number | undefined): string {
  const seconds = Math.ceil((ms ?? 0) / 1000);
  if (seconds <= 20) return "a little";
  if (seconds <= 120) return `${seconds} seconds`;
  return seconds <= 2 * 3600 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`;
}

/**
 * What to do about a refusal. Each sentence names the model and the key, so that it can be read on its own in a run.
 * @param retryAfterMs how long the vendor asks to wait
 */
export function adviceFor(
  status: number,
  reason: Refusal | undefined,
  model: string,
  endpoint: ModelEndpoint,
  retryAfterMs?: number,
): string {
  const { keyName } = endpoint;
  if (reason) return ADVICE[reason](model, endpoint);
  if (status === 403) return `Check the LLM key "${keyName}" (model ${model}): it may not be allowed to use this.`;
  if (status === 404) return `Check the model ${model} and ${addressOf(endpoint)}.`;
  if (status === 429)
    return `The LLM key "${keyName}" is at its limit for ${model}: wait ${inWords(retryAfterMs)}, or use another key or model.`;
  if (status >= 500) return `The fault is on the provider's side (model ${model}, LLM key "${keyName}"): try again later.`;
  if (status >= 300 && status < 400) return `Put the final address into a new LLM key in place of "${keyName}" (model ${model}).`;
  return `Check the settings for the model ${model} (LLM key "${keyName}").`;
}

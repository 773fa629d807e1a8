import { chat } from "#server/llm/chat.ts";
import type { ToolOffer } from "#server/llm/chat-body.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import { ProviderError } from "#server/llm/errors.ts";

const TIMEOUT_MS = 30_000;
const FEW_TOKENS = 16;

// Reasoning models may spend all of so few tokens on thinking and say so with a refusal: key and model work all the same.
const IS_SPENT_ON_THINKING = /could not finish the message because max_tokens|model output limit was reached/i;

/** Offered where an agent has tools, so that a model without tool calling says so now. */
const TRIAL_TOOL: ToolOffer = {
  name: "note",
  description: "Keeps a note. There is no need to call it.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

export interface ModelChoice {
  model: string;
  temperature: number | null;
  /** Whether calls will offer tools. */
  hasTools: boolean;
}

/**
 * Makes one tiny live call, so that a key and a model that do not fit show when an agent is saved, not when it runs.
 * @throws AppError UPSTREAM_ERROR with the provider's own words
 */
export async function validateModel(endpoint: ModelEndpoint, { model, temperature, hasTools }: ModelChoice): Promise<void> {
  try {
    await chat({
      endpoint,
      model,
      temperature,
      messages: [{ role: "user", content: "Reply with OK." }],
      max_tokens: FEW_TOKENS,
      ...(hasTools && { tools: [TRIAL_TOOL] }),
      timeoutMs: TIMEOUT_MS,
      retries: 0,
    });
  } catch (error) {
    if (!(error instanceof ProviderError && IS_SPENT_ON_THINKING.test(error.words))) throw error;
  }
}

import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import { type ChatClock, type ChatRequest, type ChatResult, chat } from "#server/llm/chat.ts";
import type { Meter } from "#server/llm/chat-loop.ts";
import type { ModelEndpoint } from "#server/llm/client.ts";
import type { TokenCount } from "#server/llm/cost.ts";
import { ProviderError } from "#server/llm/errors.ts";

export const TEST_KEY = "sk-test-4f2c9a7b1e";

export const testEndpoint = (baseUrl: string, more: Partial<ModelEndpoint> = {}): ModelEndpoint => ({
  provider: "openai_compatible",
  apiKey: TEST_KEY,
  baseUrl,
  apiVersion: null,
  keyName: "Main",
  reach: "any",
  ...more,
});

/** A clock that only moves when somebody sleeps, and remembers for how long. */
export function testClock(): ChatClock & { slept: number[] } {
  let now = 1_800_000_000_000;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => 1,
    async sleep(ms) {
      slept.push(ms);
      now += ms;
    },
  };
}

/** Calls that cost nobody anything. @param listen told what each answer used */
export const unpaid = (listen?: (used: TokenCount) => void): Meter => ({
  begin: async () => async (used) => {
    if (used) listen?.(used);
  },
});

/** Something small to ask a model at `baseUrl`, without tries or pauses. */
export const smallQuestion = (baseUrl: string) => ({
  endpoint: testEndpoint(baseUrl),
  model: "echo",
  messages: [{ role: "user" as const, content: "one two" }],
  timeoutMs: 60_000,
  retries: 0,
  clock: testClock(),
  meter: unpaid(),
});

/** Asks it. */
export const ask = (baseUrl: string, more: Partial<ChatRequest> = {}): Promise<ChatResult> => chat({ ...smallQuestion(baseUrl), ...more });

/** The ProviderError with which a call must fail. */
export async function failure(call: Promise<unknown>): Promise<ProviderError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

export const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** An error in OpenAI's shape. */
export const refuse = (response: ServerResponse, status: number, message: string, headers?: Record<string, string>) =>
  json(response, status, { error: { message } }, headers);

/** A stream that ends well after these chunks. */
export const stream = (response: ServerResponse, ...chunks: object[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end("data: [DONE]\n\n");
};

export const delta = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });

/** The body of a whole answer. */
export const answered = (content: unknown, more: object = {}) => ({
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  ...more,
});

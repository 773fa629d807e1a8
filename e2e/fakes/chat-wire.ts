import type { ServerResponse } from "node:http";

// The wire format of OpenAI's chat completions: what goes over the line, and nothing about when or why.

export interface ChatMessage {
  role: string;
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  tools?: { type: string; function: { name: string; parameters?: Record<string, unknown> } }[];
}

export interface ToolCall {
  name: string;
  args: Record<string, unknown>;
}

/** What a completion says: text or one tool call, and why it ended. */
export interface Answer {
  text: string;
  toolCall?: ToolCall;
}

/** Text of a message whose content is a string or a list of parts. */
export const textOf = (message: ChatMessage | undefined): string =>
  typeof message?.content === "string" ? message.content : (message?.content ?? []).map((part) => part.text ?? "").join("");

/** One token per word; a rule that a test can compute by hand. */
export const tokensOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;

export function usageOf(request: ChatRequest, answer: Answer) {
  const prompt = request.messages.reduce((sum, message) => sum + tokensOf(textOf(message)), 0);
  const completion = tokensOf(answer.toolCall ? JSON.stringify(answer.toolCall.args) : answer.text);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

const ERRORS: Record<number, { type: string; code: string | null; message: string }> = {
  400: { type: "invalid_request_error", code: null, message: "The request is not one that this model can answer." },
  401: { type: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided." },
  403: { type: "invalid_request_error", code: "model_not_allowed", message: "This key may not use this model." },
  404: { type: "invalid_request_error", code: "model_not_found", message: "The model does not exist or you do not have access to it." },
  429: { type: "requests", code: "rate_limit_exceeded", message: "Rate limit reached for requests. Please try again in 1s." },
  500: { type: "server_error", code: null, message: "The server had an error while processing your request. Sorry about that!" },
  503: { type: "server_error", code: null, message: "The engine is currently overloaded, please try again later." },
};

/** Answers with an error body in OpenAI's shape; a 429 carries `Retry-After: 1`. */
export function sendError(response: ServerResponse, status: number, message?: string): void {
  const row = ERRORS[status] ?? { type: "server_error", code: null, message: `The server answered ${status}.` };
  const error = { message: message ?? row.message, type: row.type, param: null, code: row.code };
  response.writeHead(status, { "content-type": "application/json", ...(status === 429 && { "retry-after": "1" }) });
  response.end(JSON.stringify({ error }));
}

const created = () => Math.floor(Date.now() / 1000);

const wireToolCall = (id: string, call: ToolCall) => ({
  id: `call_${id}`,
  type: "function",
  function: { name: call.name, arguments: JSON.stringify(call.args) },
});

/** Answers without streaming. */
export function sendCompletion(response: ServerResponse, id: string, request: ChatRequest, answer: Answer): void {
  const message = answer.toolCall
    ? { role: "assistant", content: null, tool_calls: [wireToolCall(id, answer.toolCall)] }
    : { role: "assistant", content: answer.text, refusal: null };
  const finish_reason = answer.toolCall ? "tool_calls" : "stop";
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: `chatcmpl-${id}`,
      object: "chat.completion",
      created: created(),
      model: request.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason }],
      usage: usageOf(request, answer),
    }),
  );
}

/** Writes the chunks of one streamed completion, piece by piece. */
export class ChunkWriter {
  readonly #response: ServerResponse;
  readonly #base: { id: string; object: string; created: number; model: string };
  readonly #id: string;
  readonly #withUsage: boolean;

  constructor(response: ServerResponse, id: string, request: ChatRequest) {
    this.#response = response;
    this.#id = id;
    this.#withUsage = request.stream_options?.include_usage === true;
    this.#base = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: created(), model: request.model };
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    this.delta({ role: "assistant", content: "" });
  }

  delta(delta: Record<string, unknown>, finish_reason: string | null = null): void {
    const chunk = { ...this.#base, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...(this.#withUsage && { usage: null }) };
    this.#response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  /** The pieces of a tool call: its name first, then its arguments a few characters at a time. */
  toolCall(call: ToolCall): void {
    const whole = wireToolCall(this.#id, call);
    this.delta({ tool_calls: [{ index: 0, ...whole, function: { name: call.name, arguments: "" } }] });
    for (const piece of whole.function.arguments.match(/[\s\S]{1,8}/g) ?? [])
      this.delta({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }

  end(request: ChatRequest, answer: Answer): void {
    this.delta({}, answer.toolCall ? "tool_calls" : "stop");
    if (this.#withUsage)
      this.#response.write(`data: ${JSON.stringify({ ...this.#base, choices: [], usage: usageOf(request, answer) })}\n\n`);
    this.#response.end("data: [DONE]\n\n");
  }
}

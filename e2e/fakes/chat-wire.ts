import type { ServerResponse } from "node:http";
import type { Dialect } from "#e2e/fakes/dialects.ts";
import type { VendorError } from "#e2e/fakes/vendor-errors.ts";

// The wire format of OpenAI's chat completions: what goes over the line, and nothing about when or why.

export interface ChatMessage {
  role: string;
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string }; extra_content?: unknown }[];
  tool_call_id?: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  response_format?: { type: string; json_schema?: { name: string; schema?: Record<string, unknown>; strict?: boolean | null } };
  tools?: { type: string; function: { name: string; parameters?: Record<string, unknown> } }[];
}

export interface ToolCall {
  name: string;
  args: Record<string, unknown>;
  /** Sent in place of the arguments, for what is no JSON. */
  rawArgs?: string;
}

/** What a completion says: text, tool calls, or text and then tool calls. */
export interface Answer {
  text: string;
  toolCalls?: ToolCall[];
  /** Whether it ended at the limit of its length. */
  isCut?: boolean;
}

const finishOf = (answer: Answer): string => (answer.isCut ? "length" : answer.toolCalls?.length ? "tool_calls" : "stop");

/** Text of a message whose content is a string or a list of parts. */
export const textOf = (message: ChatMessage | undefined): string =>
  typeof message?.content === "string" ? message.content : (message?.content ?? []).map((part) => part.text ?? "").join("");

/** One token per word; a rule that a test can compute by hand. */
export const tokensOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;

export function usageOf(request: ChatRequest, answer: Answer) {
  const prompt = request.messages.reduce((sum, message) => sum + tokensOf(textOf(message)), 0);
  const called = answer.toolCalls?.map(({ args }) => JSON.stringify(args)) ?? [];
  const completion = tokensOf([answer.text, ...called].join(" "));
  // `cached-3` says that three of the words came from its cache.
  const cached = /^cached-(\d+)$/.exec(request.model)?.[1];
  const details = cached !== undefined && { prompt_tokens_details: { cached_tokens: Number(cached) } };
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...details };
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

/** Answers with what a vendor sends, as it is: JSON, or a page. */
export function sendAsIs(response: ServerResponse, { status, body, headers }: VendorError): void {
  const isPage = typeof body === "string";
  response.writeHead(status, { "content-type": isPage ? "text/html" : "application/json", ...headers });
  response.end(isPage ? body : JSON.stringify(body));
}

/** Answers with an error body in OpenAI's shape; a 429 carries `Retry-After: 1`. */
export function sendError(response: ServerResponse, status: number, message?: string): void {
  const row = ERRORS[status] ?? { type: "server_error", code: null, message: `The server answered ${status}.` };
  const error = { message: message ?? row.message, type: row.type, param: null, code: row.code };
  response.writeHead(status, { "content-type": "application/json", ...(status === 429 && { "retry-after": "1" }) });
  response.end(JSON.stringify({ error }));
}

const created = () => Math.floor(Date.now() / 1000);

/** Answers without streaming. */
export function sendCompletion(response: ServerResponse, id: string, request: ChatRequest, answer: Answer, dialect: Dialect): void {
  const message = answer.toolCalls
    ? { role: "assistant", content: answer.text || null, tool_calls: dialect.toolCalls(id, answer.toolCalls) }
    : { role: "assistant", content: answer.text, refusal: null };
  const finish_reason = finishOf(answer);
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
  readonly #dialect: Dialect;

  constructor(response: ServerResponse, id: string, request: ChatRequest, dialect: Dialect) {
    this.#response = response;
    this.#id = id;
    this.#dialect = dialect;
    this.#withUsage = request.stream_options?.include_usage === true || dialect.hasUsageUnasked === true;
    this.#base = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: created(), model: request.model };
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    if (dialect.opening) this.#write(dialect.opening);
    this.delta({ role: "assistant", content: "" });
  }

  #write(more: Record<string, unknown>): void {
    this.#response.write(`data: ${JSON.stringify({ ...this.#base, ...more })}\n\n`);
  }

  delta(delta: Record<string, unknown>, finish_reason: string | null = null, usage: object | null = null): void {
    this.#write({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...(this.#withUsage && { usage }) });
  }

  toolCalls(calls: ToolCall[]): void {
    for (const piece of this.#dialect.toolPieces(this.#id, calls)) this.delta({ tool_calls: [piece] });
  }

  end(request: ChatRequest, answer: Answer): void {
    const usage = usageOf(request, answer);
    this.delta({}, finishOf(answer), this.#dialect.hasUsageAtEnd ? usage : null);
    if (this.#withUsage && !this.#dialect.hasUsageAtEnd) this.#write({ choices: [], usage });
    this.#response.end("data: [DONE]\n\n");
  }
}

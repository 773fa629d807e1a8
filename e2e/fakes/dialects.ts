import { type Answer, type ChatRequest, type ToolCall, textOf } from "#e2e/fakes/chat-wire.ts";

// How the vendors' chat-completions endpoints differ from OpenAI's, as their documentation and users tell it. The first
// part of the path chooses one: a key with the base URL http://…/gemini/v1 speaks to Gemini's dialect.

export interface Dialect {
  /** What is wrong with a request for this vendor: status and the vendor's words. */
  refusal?(request: ChatRequest): { status: number; message: string } | undefined;
  /** The pieces of the tool calls of one streamed answer, one chunk each. */
  toolPieces(id: string, calls: ToolCall[]): Record<string, unknown>[];
  /** The calls of an answer in one piece. */
  toolCalls(id: string, calls: ToolCall[]): Record<string, unknown>[];
  /** Whether usage comes in the last chunk without being asked for. */
  hasUsageUnasked?: boolean;
  /** Whether the key comes in the header `api-key` and nowhere else. */
  isApiKeyHeader?: boolean;
  /** Whether `response_format` is silently ignored. */
  ignoresSchema?: boolean;
  /** Whether usage comes in the chunk that ends the answer, not in one of its own after it. */
  hasUsageAtEnd?: boolean;
  /** A first chunk without an answer in it. */
  opening?: Record<string, unknown>;
}

const callId = (id: string, index: number): string => `call_${id}_${index}`;

const whole = (id: string, call: ToolCall) => ({
  id,
  type: "function",
  function: { name: call.name, arguments: call.rawArgs ?? JSON.stringify(call.args) },
});

const wholeCalls = (id: string, calls: ToolCall[]) => calls.map((call, index) => whole(callId(id, index), call));

/** OpenAI: per call its id and name first, then the arguments a few characters at a time; parallel calls by index. */
function fragments(id: string, calls: ToolCall[]): Record<string, unknown>[] {
  return calls.flatMap((call, index) => {
    const { function: called, ...head } = whole(callId(id, index), call);
    return [
      { index, ...head, function: { name: called.name, arguments: "" } },
      ...(called.arguments.match(/[\s\S]{1,8}/g) ?? []).map((piece) => ({ index, function: { arguments: piece } })),
    ];
  });
}

const openai: Dialect = { toolPieces: fragments, toolCalls: wholeCalls };

const assistantCalls = (request: ChatRequest) =>
  request.messages.filter((message) => message.role === "assistant").flatMap((message) => message.tool_calls ?? []);

const SIGNATURE = { google: { thought_signature: "c2lnbmVk" } };

export const dialects: Record<string, Dialect> = {
  openai: {
    ...openai,
    refusal: ({ max_tokens }) =>
      typeof max_tokens === "number"
        ? {
            status: 400,
            message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          }
        : undefined,
  },
  anthropic: {
    ...openai,
    ignoresSchema: true,
    refusal: (request) =>
      assistantCalls(request).length && !request.tools?.length
        ? { status: 400, message: "Requests which include `tool_use` or `tool_result` blocks must define tools." }
        : undefined,
  },
  // Every parallel call whole, each with index 0; the signature of a call must come back with it.
  gemini: {
    hasUsageAtEnd: true,
    toolPieces: (id, calls) => gemini(id, calls).map((call) => ({ index: 0, ...call })),
    toolCalls: gemini,
    refusal: (request) => {
      if (assistantCalls(request).some((call) => !call.extra_content))
        return { status: 400, message: "Function call is missing a thought_signature in functionCall parts." };
      if (request.tools?.length && request.response_format)
        return { status: 400, message: "Function calling with a response mime type: 'application/json' is unsupported" };
      return undefined;
    },
  },
  // The whole call in one chunk without an index of meaning; strict about fields and about ids.
  mistral: {
    hasUsageUnasked: true,
    hasUsageAtEnd: true,
    toolPieces: (id, calls) => mistral(id, calls).map((call, index) => ({ ...call, index })),
    toolCalls: mistral,
    refusal: (request) => {
      if (request.stream_options) return { status: 422, message: "Extra inputs are not permitted: body.stream_options" };
      if (request.tools?.length && request.response_format) return { status: 400, message: "Cannot use json response type with tools" };
      if (assistantCalls(request).some(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id)))
        return { status: 400, message: "Tool call id was not valid but must be a-z, A-Z, 0-9, with a length of 9." };
      return undefined;
    },
  },
  huggingface: {
    ...openai,
    refusal: ({ tools }) => (tools?.length ? { status: 422, message: "This provider does not support tools." } : undefined),
  },
  azure: {
    ...openai,
    isApiKeyHeader: true,
    opening: { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
  },
  // Local servers: arguments whole, no ids at all, everything at index 0.
  local: {
    toolPieces: (_, calls) => calls.map((call) => ({ index: 0, type: "function", function: { name: call.name, arguments: call.args } })),
    toolCalls: (_, calls) => calls.map((call) => ({ type: "function", function: { name: call.name, arguments: call.args } })),
  },
  // A gateway that runs the arguments of parallel calls of one tool together.
  glued: {
    toolPieces: (id, calls) => glued(id, calls).map((call) => ({ index: 0, ...call })),
    toolCalls: glued,
  },
};

function gemini(id: string, calls: ToolCall[]) {
  return wholeCalls(id, calls).map((call) => ({ ...call, extra_content: SIGNATURE }));
}

function mistral(id: string, calls: ToolCall[]) {
  return calls.map((call, index) => whole(`${id}x${index}mistral00`.slice(0, 9), call));
}

function glued(id: string, calls: ToolCall[]) {
  const [first] = calls;
  if (!first) return [];
  return [whole(callId(id, 0), { ...first, rawArgs: calls.map(({ args }) => JSON.stringify(args)).join("") })];
}

/** The dialect that a path begins with, and the rest of the path. `openai` is OpenAI's own, no name any other server's. */
export function dialectOf(path: string): { dialect: Dialect; name: string; rest: string } {
  const [, name = "", rest = ""] = /^\/([a-z]+)(\/.*)$/.exec(path) ?? [];
  const dialect = dialects[name];
  return dialect ? { dialect, name, rest } : { dialect: openai, name: "", rest: path };
}

interface SchemaNode {
  type?: string;
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  enum?: unknown[];
}

/** A value that fits a simple schema; texts are the user's words. */
function fitting({ type, properties = {}, items, enum: choices }: SchemaNode, words: string): unknown {
  if (choices?.length) return choices[0];
  if (type === "object" || Object.keys(properties).length)
    return Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, fitting(node, words)]));
  if (type === "array") return items ? [fitting(items, words)] : [];
  return { number: 1.5, integer: 1, boolean: true, null: null }[type ?? ""] ?? words;
}

/** The schema that an answer should follow: from the request's own field, else from the words of the system message. */
export function askedSchema(request: ChatRequest): SchemaNode | undefined {
  const native = request.response_format?.json_schema?.schema;
  if (native) return native as SchemaNode;
  const words = textOf(request.messages.find(({ role }) => role === "system")).split("JSON Schema:\n")[1];
  return words ? (JSON.parse(words) as SchemaNode) : undefined;
}

/** An answer that follows the schema that was asked for. */
export const jsonAnswer = (request: ChatRequest, words: string): Answer => ({
  text: JSON.stringify(fitting(askedSchema(request) ?? {}, words)),
});

import type { ChatCompletionCreateParams, ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import { type ModelEndpoint, wireModel } from "#server/llm/client.ts";
import { providerKind } from "#server/llm/kinds.ts";
import type { WireToolCall } from "#server/llm/tool-calls.ts";
import type { AgentToolDefinition, JsonSchema } from "#server/llm/tools/tool.ts";

/** One turn of a conversation, or one step of a turn. */
export type ChatMessage =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string; toolCalls?: WireToolCall[]; reasoning?: string }
  | { role: "tool"; toolCallId: string; content: string };

/** A tool as a model is told of it. */
export type ToolOffer = Pick<AgentToolDefinition, "name" | "description" | "parameters">;

/** What is asked, apart from where, when and how often. */
export interface ChatQuestion {
  endpoint: ModelEndpoint;
  /** As people type it, without a routing prefix. */
  model: string;
  messages: ChatMessage[];
  /** Null and left out: the model's own default. */
  temperature?: number | null;
  /** Longest answer in tokens; null and left out: the model's own limit. */
  max_tokens?: number | null;
  tools?: readonly ToolOffer[];
  /** JSON Schema that the answer is asked to follow. Whether it does is for the caller to check. */
  answerSchema?: JsonSchema | null;
}

/** What a server understands of the optional parts of the format. */
export interface Dialect {
  stream: boolean;
  streamOptions: boolean;
  tokenLimitField: "max_tokens" | "max_completion_tokens";
  /** Whether `response_format` with a JSON Schema is understood. */
  jsonSchema: boolean;
}

function wireMessage(message: ChatMessage): ChatCompletionMessageParam {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== "assistant" || !message.toolCalls?.length) return { role: message.role, content: message.content };
  const tool_calls = message.toolCalls.map(({ id, name, args, extra }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) },
    ...(extra !== undefined && { extra_content: extra }),
  }));
  return {
    role: "assistant",
    content: message.content === "" ? null : message.content,
    tool_calls,
    ...(message.reasoning && { reasoning_content: message.reasoning }),
  };
}

/** @param most where a description is cut: servers of the user's own write long ones, and one of them would fail the whole call */
const wireTool =
  (most: number) =>
  ({ name, description, parameters: { $schema: _, ...parameters } }: ToolOffer): ChatCompletionTool => ({
    type: "function",
    function: {
      name,
      description: description.length > most ? `${description.slice(0, most - 1).toWellFormed()}…` : description,
      // OpenAI refuses an object without them, and tools that take nothing often have none.
      parameters: parameters.properties === undefined ? { ...parameters, properties: {} } : parameters,
    },
  });

/**
 * Whether OpenAI's strict mode would take the schema: every object closed, and all of its properties required. A schema
 * that is not so is sent without it and still guides the model.
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== "object" || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as JsonSchema;
  if (type === "object" || properties !== undefined) {
    const names = Object.keys((properties as object | undefined) ?? {});
    if (additionalProperties !== false || !Array.isArray(required) || !names.every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every(isStrict);
}

/** What a model is told about the form of its answer where the format itself has no place for it. */
const inWords = (schema: JsonSchema): string =>
  `Answer with one JSON value and nothing else: no introduction, no code fence. It must follow this JSON Schema:\n${JSON.stringify(schema)}`;

function withInstruction(messages: ChatMessage[], instruction: string): ChatMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instruction }, ...messages];
  return [{ role: "system", content: `${first.content}\n\n${instruction}` }, ...rest];
}

/** Whether the schema goes into the request's own field: vendors want an object at the root, and some no tools beside it. */
function sendsSchema({ endpoint, answerSchema, tools = [] }: ChatQuestion, dialect: Dialect): boolean {
  const { structuredOutput } = providerKind(endpoint.provider);
  if (answerSchema?.type !== "object" || !dialect.jsonSchema) return false;
  return structuredOutput === "always" || (structuredOutput === "without_tools" && tools.length === 0);
}

/** The body of a chat-completions request, in the words that the server understands. */
export function bodyFor(question: ChatQuestion, dialect: Dialect): ChatCompletionCreateParams {
  const { endpoint, model, messages, temperature, max_tokens, tools = [], answerSchema } = question;
  const isNative = sendsSchema(question, dialect);
  const { mostToolDescription = Number.POSITIVE_INFINITY } = providerKind(endpoint.provider);
  const told = answerSchema && !isNative ? withInstruction(messages, inWords(answerSchema)) : messages;
  return {
    model: wireModel(endpoint.provider, model),
    messages: told.map(wireMessage),
    ...(tools.length > 0 && { tools: tools.map(wireTool(mostToolDescription)) }),
    ...(answerSchema &&
      isNative && {
        response_format: {
          type: "json_schema" as const,
          json_schema: { name: "answer", schema: answerSchema, strict: isStrict(answerSchema) },
        },
      }),
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof max_tokens === "number" && { [dialect.tokenLimitField]: max_tokens }),
    stream: dialect.stream,
    ...(dialect.stream && dialect.streamOptions && { stream_options: { include_usage: true } }),
  };
}

const REFUSAL_STATUSES = [400, 404, 405, 415, 422, 501];
const REFUSES =
  /not (yet |be )?(support|permit|allow|recogni|accept|available|implement)|n't support|unsupported|unrecogni[sz]ed|unknown|unexpected|extra[ _](inputs?|forbidden|fields?)|invalid (parameter|argument|field)|must be verified|instead/i;
const MOST_STEPS_DOWN = 4;

/**
 * The dialect to try after this refusal, or undefined when the refusal is about something else.
 * @param tried how many dialects were tried before in this call
 */
export function simplerDialect(dialect: Dialect, error: unknown, question: ChatQuestion, tried: number): Dialect | undefined {
  const { status, error: answer } = (error ?? {}) as { status?: number; error?: unknown };
  if (!status || !REFUSAL_STATUSES.includes(status) || tried >= MOST_STEPS_DOWN) return undefined;
  const said = typeof answer === "string" ? answer : JSON.stringify(answer ?? "");
  // Also a schema that goes beyond what the vendor takes: it is then asked for in words.
  if (sendsSchema(question, dialect) && /response_?format|json_?schema|structured[ _]output|invalid schema/i.test(said))
    return { ...dialect, jsonSchema: false };
  if (!REFUSES.test(said)) return undefined;
  if (dialect.stream && dialect.streamOptions && /stream_options|include_usage/.test(said)) return { ...dialect, streamOptions: false };
  if (typeof question.max_tokens === "number" && said.includes(dialect.tokenLimitField))
    return { ...dialect, tokenLimitField: dialect.tokenLimitField === "max_tokens" ? "max_completion_tokens" : "max_tokens" };
  if (dialect.stream && /\bstream(ing|ed)?\b/i.test(said)) return { ...dialect, stream: false };
  return undefined;
}

/** Whether a refusal says something about the server and not only about this one schema. */
export const isLasting = (error: unknown): boolean => !/invalid schema/i.test(JSON.stringify((error as { error?: unknown }).error ?? ""));

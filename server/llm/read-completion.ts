import { createParser } from "eventsource-parser";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import { BrokenOff, GarbledAnswer, StreamedError } from "#server/llm/errors.ts";
import { WithoutThinking } from "#server/llm/thinking.ts";
import { ToolCallGatherer, type WireToolCall } from "#server/llm/tool-calls.ts";
import { parseForeignJson } from "#server/platform/clean-text.ts";
import { AnswerTooLong, textUpTo } from "#server/platform/net/read-up-to.ts";
import { MAX_OUTPUT } from "#server/workflow/output-size.ts";

/** What a model said. Token counts are 0 where the server tells none. */
export interface Completion {
  text: string;
  input_tokens: number;
  /** Of the input tokens: those that the service read from its cache, and asks less for. */
  cached_tokens: number;
  output_tokens: number;
  tool_calls: WireToolCall[];
  /** True when the answer ended at the limit of its length, so that it may be cut. */
  isCut: boolean;
  /** True when the vendor held the answer, or the rest of it, back. */
  isFiltered: boolean;
  /** A model's thinking, where the server sends it beside the text: it must go back with the tool calls (DeepSeek). */
  reasoning: string;
}

// Servers differ from the SDK's types, so nothing in a body is trusted to be there.
type Loose<T> = T extends (infer Item)[]
  ? Loose<Item>[] | null | undefined
  : T extends object
    ? { [K in keyof T]?: Loose<T[K]> } | null | undefined
    : T | null | undefined;
type Usage = Loose<ChatCompletion["usage"]>;
type Said = { content?: unknown; refusal?: unknown; tool_calls?: unknown; reasoning_content?: unknown } | null | undefined;

// Mistral tells apart the limit that was asked for and the model's own.
const IS_CUT = /^(length|model_length|max_tokens)$/i;
// OpenAI's word, which Azure and Google's endpoint use too; gateways hand on Google's own and Anthropic's.
const IS_FILTERED = /^(content_filter|safety|refusal|recitation|prohibited_content|blocklist|spii|sensitive)$/i;
// Mistral and OpenRouter, DeepSeek: what ends so is no answer.
const IS_ERROR = /^(error|insufficient_system_resource)$/i;

/** Longest answer that is read in one piece, in bytes. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const count = (value: unknown): number => (typeof value === "number" && value > 0 ? Math.round(value) : 0);

/**
 * Input tokens that came from a cache. OpenAI's field, which Azure, Groq, xAI and vLLM have too, counts them among the prompt's;
 * so does DeepSeek's own (https://api-docs.deepseek.com/guides/kv_cache) and the older one of Moonshot.
 */
function cachedOf(usage: Usage): number {
  const more = Object(usage) as { prompt_cache_hit_tokens?: unknown; cached_tokens?: unknown };
  const told = count(usage?.prompt_tokens_details?.cached_tokens) || count(more.prompt_cache_hit_tokens) || count(more.cached_tokens);
  return Math.min(told, count(usage?.prompt_tokens));
}

/** Text of a content that is a string, or a list of parts of which some are text and others a model's thinking. */
function textOf(said: Said): string {
  const content = said?.content || said?.refusal;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type?: string; text?: unknown }) => (part?.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("");
}

/** Collects what a model says, in one piece or in many. */
class Gatherer {
  text = "";
  isFinished = false;
  hasChoices = false;
  #usage: Usage = undefined;
  #isCut = false;
  #isFiltered = false;
  #reasoning = "";
  #half = "";
  #length = 0;
  readonly #calls = new ToolCallGatherer();
  readonly #thoughts = new WithoutThinking();
  readonly #onDelta: ((content: string) => void) | undefined;

  constructor(onDelta: ((content: string) => void) | undefined) {
    this.#onDelta = onDelta;
  }

  add(body: unknown): void {
    if (typeof body !== "object" || body === null) throw new GarbledAnswer(JSON.stringify(body) ?? "");
    // Google wraps an error in a list; Mistral and vLLM send the error itself as the body.
    const said = (Array.isArray(body) && body.length === 1 ? body[0] : body) as object | null;
    const { object, error, detail, message, usage, choices } = (said ?? {}) as {
      object?: unknown;
      error?: unknown;
      detail?: unknown;
      message?: unknown;
      usage?: Usage;
      choices?: Loose<(ChatCompletionChunk.Choice & ChatCompletion.Choice)[]>;
    };
    if (error) throw new StreamedError(error);
    if (object === "error") throw new StreamedError(said);
    if (usage) this.#usage = usage;
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!choice) {
      // How a gateway tells in the middle of an answer that it cannot go on; before it, nothing says that this is a model at all,
      // and behind it there is nothing left to fail.
      const isTold = [detail, message].some((words) => typeof words === "string" && words !== "");
      if (this.hasChoices && !this.isFinished && isTold) throw new StreamedError(said);
      return;
    }
    this.hasChoices = true;
    if (choice.finish_reason) {
      if (IS_ERROR.test(choice.finish_reason)) throw new StreamedError({});
      this.isFinished = true;
      this.#isCut = IS_CUT.test(choice.finish_reason);
      this.#isFiltered = IS_FILTERED.test(choice.finish_reason);
    }
    const part = (choice.message ?? choice.delta) as Said;
    const text = textOf(part);
    const reasoning = typeof part?.reasoning_content === "string" ? part.reasoning_content : "";
    this.#length += text.length + reasoning.length;
    if (this.#length > MAX_OUTPUT) throw new AnswerTooLong(MAX_OUTPUT);
    this.#give(this.#thoughts.add(text));
    this.#reasoning += reasoning;
    if (!Array.isArray(part?.tool_calls)) return;
    for (const call of part.tool_calls as unknown[]) {
      if (choice.message) this.#calls.addWhole(call);
      else this.#calls.addPiece(call);
    }
  }

  /** A character that two pieces share waits for the second, as neither half can be kept or shown. */
  #give(piece: string): void {
    if (piece === "") return;
    const text = this.#half + piece;
    const isCutInTwo = /[\ud800-\udbff]$/.test(piece);
    this.#half = isCutInTwo ? text.slice(-1) : "";
    const whole = isCutInTwo ? text.slice(0, -1) : text;
    if (whole === "") return;
    this.text += whole;
    this.#onDelta?.(whole);
  }

  completion(): Completion {
    this.#give(this.#thoughts.end(this.#isCut));
    return {
      text: this.text,
      input_tokens: count(this.#usage?.prompt_tokens),
      cached_tokens: cachedOf(this.#usage),
      output_tokens: count(this.#usage?.completion_tokens),
      tool_calls: this.#calls.calls(),
      isCut: this.#isCut,
      isFiltered: this.#isFiltered,
      reasoning: this.#reasoning,
    };
  }
}

function parse(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}

/** How long a stream may go on in silence after the answer has ended, in milliseconds: the token counts come then. */
const LINGER_MS = 5000;

/** The text of a stream. Once its answer is whole, neither a line that drops nor one that is left open makes it less. */
async function* textsOf(response: Response, isWhole: () => boolean, lingerMs: number): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      if (isWhole()) timer = setTimeout(() => void reader.cancel().catch(() => undefined), lingerMs);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (!isWhole()) throw error;
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined);
  }
}

/**
 * Reads an answer to a chat-completions request: a stream of events or one JSON body, whichever the server chose to send.
 * @param onDelta gets each piece of text as it comes
 * @param lingerMs how long the line may be silent after the answer has ended, in milliseconds
 * @throws GarbledAnswer, StreamedError, BrokenOff, or the connection's own error
 */
export async function readCompletion(
  response: Response,
  onDelta?: (content: string) => void,
  lingerMs: number = LINGER_MS,
): Promise<Completion> {
  const gatherer = new Gatherer(onDelta);
  let [isDone, isOver] = [false, false];
  const take = (data: string) => {
    const text = data.trim();
    if (isOver || text === "") return;
    isDone = text === "[DONE]";
    const value = isDone ? undefined : parse(data);
    // Behind the end of an answer only counts follow, and they may be cut off.
    isOver = isDone || (value === undefined && gatherer.isFinished);
    if (isOver) return;
    // After a good beginning the address is right, and what came was damaged on its way.
    if (value === undefined) throw gatherer.hasChoices ? new BrokenOff() : new GarbledAnswer(data);
    gatherer.add(value);
  };
  const readEvents = async (body: AsyncIterable<string> | string[]) => {
    const parser = createParser({
      onEvent: ({ data }) => take(data),
      // Older servers of llama.cpp put what went wrong into a field of its own.
      onError: ({ field, value }) => field === "error" && take(`{"error":${value}}`),
    });
    for await (const chunk of body) {
      // A chunk with carriage returns would be gone through once for each of its lines.
      parser.feed(chunk.replaceAll("\r", ""));
      if (isOver) return;
    }
    // A last event without the blank line after it still counts: some servers end so.
    parser.feed("\n\n");
  };

  if (response.headers.get("content-type")?.includes("text/event-stream")) {
    await readEvents(textsOf(response, () => gatherer.isFinished, lingerMs));
    if (!gatherer.isFinished && !isDone) throw gatherer.hasChoices ? new BrokenOff() : new GarbledAnswer("");
  } else {
    const text = await textUpTo(response, MAX_BODY_BYTES);
    // Some gateways stream under another content type.
    if (/^\s*(data|event|id)?:/.test(text)) await readEvents([text]);
    else {
      const value = parse(text);
      if (value === undefined) throw new GarbledAnswer(text);
      gatherer.add(value);
    }
    if (!gatherer.hasChoices) throw new GarbledAnswer(text);
  }
  if (!gatherer.hasChoices) throw new GarbledAnswer("");
  return gatherer.completion();
}

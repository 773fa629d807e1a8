import { answerCheck, type CheckedAnswer } from "#server/llm/answer-schema.ts";
import { type ChatRequest, type ChatResult, chat, systemClock, timedOut } from "#server/llm/chat.ts";
import type { ChatMessage } from "#server/llm/chat-body.ts";
import type { TokenCount } from "#server/llm/cost.ts";
import { ProviderError } from "#server/llm/errors.ts";
import { providerKind } from "#server/llm/kinds.ts";
import type { WireToolCall } from "#server/llm/tool-calls.ts";
import { type AgentToolDefinition, cutResult, MalformedArguments, type ToolAnswer, ToolWaits } from "#server/llm/tools/tool.ts";
import { follow, orAborted } from "#server/platform/abort.ts";
import { isAppError, isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { masked } from "#server/platform/mask-scope.ts";

/** One use of a tool, as the outside learns of it. */
export interface ToolUse {
  /** Pairs a result with its call; unique in one conversation with one model. */
  id: string;
  name: string;
  args: Record<string, unknown>;
}

/** Stands around every question to a model, for whoever pays. */
export interface Meter {
  /**
   * Asked before each.
   * @returns what is to be told afterwards: what the answer used; or nothing when none came, with the number of characters that had come
   *   where it was cut off, by whoever asked or by its time
   * @throws what ends the whole, because nothing more may be spent
   */
  begin(question: { messages: readonly ChatMessage[]; max_tokens?: number | null | undefined }): Promise<EndOfCall>;
}
export type EndOfCall = (used?: TokenCount, heard?: number) => Promise<void>;

/** The messages may end in the middle of a round: calls of the last answer that have no result yet are made first. */
export interface ChatLoopRequest extends Omit<ChatRequest, "tools" | "allowedMs"> {
  tools?: readonly AgentToolDefinition[];
  /** Most rounds of tool calls; 10 unless given. */
  maxRounds?: number | undefined;
  /** Learns the tokens of each answer of the model, also when the whole fails after it. */
  meter: Meter;
  onToolCall?: ((call: ToolUse) => void) | undefined;
  onToolResult?: ((call: ToolUse, answer: ToolAnswer) => void) | undefined;
  /**
   * Told of each message that joins the conversation, the answer excepted, and waited for. With it tools are called one after
   * the other, and what is said on the way to them is not taken back.
   */
  onMessage?: ((message: ChatMessage) => Promise<void>) | undefined;
  /** Gives what is sent in place of the conversation so far, each time before the model is asked. What it throws ends the whole. */
  beforeAsk?: ((messages: readonly ChatMessage[]) => Promise<ChatMessage[]>) | undefined;
  /** How many malformed calls in a row are answered; left out, all of them. */
  maxMalformed?: number | undefined;
}

export interface ChatLoopResult {
  /** The last thing that the model said; with an answer schema the JSON text and nothing around it. */
  text: string;
  model: string;
  /** Of all rounds together, as `output_tokens`. */
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  tool_calls: { name: string; args: Record<string, unknown> }[];
  /** True when the text ends at the limit of its length and may go on; else left out. */
  truncated?: true;
}

export const MOST_ROUNDS = 10;
const MOST_CALLS_AT_ONCE = 16;
const MOST_RAW_TEXT = 2000;

/** Calls of the last answer of a conversation that have no result yet. */
export function unanswered(messages: readonly ChatMessage[]): WireToolCall[] {
  const at = messages.findLastIndex(({ role }) => role !== "tool");
  const last = messages[at];
  if (last?.role !== "assistant") return [];
  const answered = new Set(messages.slice(at).map((message) => (message.role === "tool" ? message.toolCallId : undefined)));
  return (last.toolCalls ?? []).filter(({ id }) => !answered.has(id));
}

/** One conversation, from the first question to the answer that counts. */
class Conversation {
  readonly #request: ChatLoopRequest;
  readonly #signal: AbortSignal;
  readonly #deadline: number;
  readonly #check: ((text: string) => CheckedAnswer) | undefined;
  readonly #uses: ToolUse[] = [];
  #inputTokens = 0;
  #cachedTokens = 0;
  #outputTokens = 0;
  #hasEmitted = false;
  /** Calls with arguments that no tool takes, one after the other. */
  #malformed = 0;

  constructor(request: ChatLoopRequest, signal: AbortSignal) {
    this.#request = request;
    this.#signal = signal;
    this.#deadline = this.#now() + request.timeoutMs;
    this.#check = request.answerSchema ? answerCheck(request.answerSchema) : undefined;
  }

  #now = (): number => (this.#request.clock ?? systemClock).now();

  async run(): Promise<ChatLoopResult> {
    const { tools = [], maxRounds = MOST_ROUNDS, onMessage, beforeAsk } = this.#request;
    const messages = [...this.#request.messages];
    messages.push(...(await this.#runTools(unanswered(messages))));
    for (let round = 0; ; round += 1) {
      const said = await this.#ask(beforeAsk ? await beforeAsk(messages) : messages, tools);
      if (tools.length === 0 || said.tool_calls.length === 0) {
        const text = await this.#checked(said);
        return this.#result(text, said.isCut && !this.#check);
      }
      if (round >= maxRounds) throw this.#failure(`called tools in ${maxRounds} rounds and asked for more instead of answering`);
      // What was said on the way to a tool is no part of the answer.
      if (onMessage) this.#hasEmitted = false;
      else this.#takeBack();
      const { text: content, tool_calls: toolCalls, reasoning } = said;
      const message: ChatMessage = { role: "assistant", content, toolCalls, reasoning };
      await onMessage?.(message);
      messages.push(message, ...(await this.#runTools(toolCalls)));
    }
  }

  async #ask(messages: ChatMessage[], tools: readonly AgentToolDefinition[]): Promise<ChatResult> {
    const { onDelta, onRestart, timeoutMs, meter, max_tokens } = this.#request;
    // Where nothing can be taken back, an answer that may fail its check is not shown before it has passed.
    const isHeldBack = this.#check !== undefined && onRestart === undefined;
    const end = await meter.begin({ messages, max_tokens });
    let heard = 0;
    let said: ChatResult;
    try {
      said = await chat({
        ...this.#request,
        messages,
        tools,
        signal: this.#signal,
        timeoutMs: Math.max(1, this.#deadline - this.#now()),
        allowedMs: timeoutMs,
        onDelta:
          onDelta && !isHeldBack
            ? (content) => {
                heard += content.length;
                this.#hasEmitted = true;
                onDelta(content);
              }
            : undefined,
        onRestart: onRestart && (() => this.#takeBack()),
      });
    } catch (error) {
      // What the vendor has written is paid for, although nobody tells how much that was.
      const isCutOff = heard > 0 || this.#signal.aborted || this.#now() >= this.#deadline;
      await end(undefined, isCutOff ? heard : undefined);
      throw error;
    }
    this.#inputTokens += said.input_tokens;
    this.#outputTokens += said.output_tokens;
    this.#cachedTokens += said.cached_tokens;
    const { input_tokens, cached_tokens, output_tokens } = said;
    await end({ input_tokens, cached_tokens, output_tokens });
    this.#assertSaid(said);
    return said;
  }

  /** What a vendor held back, and thoughts that left no room for an answer, must not go on as one. */
  #assertSaid({ text, tool_calls, isCut, isFiltered }: ChatResult): void {
    if (isFiltered) {
      const advice = "Change the message or the agent's instructions, or choose another model.";
      throw this.#failure("was stopped by a content filter of the provider", [advice, this.#raw(text)].filter(Boolean).join(" "));
    }
    if (!isCut) return;
    const { max_tokens } = this.#request;
    // Asked again it would end at the same place, round after round.
    if (tool_calls.some(({ isMalformed }) => isMalformed))
      throw this.#failure(
        "reached the limit of its length in the middle of a tool call",
        `${typeof max_tokens === "number" ? "Raise the agent's longest answer (max_tokens), or leave it empty" : "Ask for less, or choose another model"}.`,
      );
    if (text.trim() !== "" || tool_calls.length > 0) return;
    if (typeof max_tokens !== "number") throw this.#failure("reached the limit of its length before it said anything");
    throw this.#failure(
      `used up its ${max_tokens.toLocaleString("en")} tokens before it said anything`,
      "Reasoning models think within that limit: raise the agent's longest answer (max_tokens), or leave it empty.",
    );
  }

  #takeBack(): void {
    if (this.#hasEmitted) this.#request.onRestart?.();
    this.#hasEmitted = false;
  }

  /** Runs the calls of one round, side by side unless each message is waited for; the results keep the order of the calls. */
  async #runTools(calls: WireToolCall[]): Promise<ChatMessage[]> {
    const { onMessage } = this.#request;
    if (!onMessage) return Promise.all(calls.map((call, index) => this.#runTool(call, index)));
    const results: ChatMessage[] = [];
    for (const [index, call] of calls.entries()) {
      const result = await this.#runTool(call, index);
      await onMessage(result);
      results.push(result);
    }
    return results;
  }

  async #runTool(call: WireToolCall, index: number): Promise<ChatMessage> {
    const { tools = [], onToolCall, onToolResult, maxMalformed = Number.POSITIVE_INFINITY } = this.#request;
    const use = { id: call.id, name: call.name, args: call.args };
    this.#uses.push(use);
    onToolCall?.(use);
    const { isMalformed = false, ...answer } =
      index < MOST_CALLS_AT_ONCE
        ? await runTool(call, tools, this.#signal)
        : failed(`At most ${MOST_CALLS_AT_ONCE} tools are called at once. Call this one again.`);
    if (!this.#signal.aborted) onToolResult?.(use, answer);
    this.#malformed = isMalformed ? this.#malformed + 1 : 0;
    if (this.#malformed > maxMalformed)
      throw this.#failure(
        `called tools with arguments that they do not take ${this.#malformed} times, though it was told what was wrong`,
        `The last time: ${answer.result}`,
      );
    return { role: "tool", toolCallId: call.id, content: answer.result };
  }

  /** The answer, which has passed the check if there is one: at once, or when asked a second time. */
  async #checked(said: ChatResult): Promise<string> {
    if (!this.#check) return said.text;
    const first = this.#check(said.text);
    if ("json" in first) return this.#shown(first.json);
    if (said.isCut) throw this.#unfit("answered only up to the limit of its length, before the JSON was whole", said.text);
    this.#takeBack();
    // Without the tools and their results: the answer itself holds what they gave, and some vendors want all or none.
    const repaired = await this.#ask(
      [
        ...this.#request.messages,
        { role: "assistant", content: said.text.trim() || "(no answer)" },
        {
          role: "user",
          content: `Your answer does not follow the JSON Schema: ${first.problem}. Send the corrected JSON and nothing else. Keep what it says.`,
        },
      ],
      [],
    );
    const second = this.#check(repaired.text);
    if ("json" in second) return this.#shown(second.json);
    throw this.#unfit(`did not answer as the output schema asks, not even when asked again: ${second.problem}`, repaired.text);
  }

  /** Gives out an answer that was held back. */
  #shown(json: string): string {
    if (!this.#hasEmitted) this.#request.onDelta?.(json);
    return json;
  }

  #result(text: string, isTruncated: boolean): ChatLoopResult {
    return {
      text,
      model: this.#request.model,
      input_tokens: this.#inputTokens,
      cached_tokens: this.#cachedTokens,
      output_tokens: this.#outputTokens,
      tool_calls: this.#uses.map(({ name, args }) => ({ name, args })),
      ...(isTruncated && { truncated: true }),
    };
  }

  #raw(text: string): string {
    const raw = masked(text).trim().slice(0, MOST_RAW_TEXT).toWellFormed();
    return raw && `It said: ${raw}`;
  }

  #unfit(what: string, text: string): ProviderError {
    return this.#failure(what, this.#raw(text));
  }

  #failure(what: string, more = "Ask for less, or choose another model."): ProviderError {
    const { endpoint, model } = this.#request;
    const { label } = providerKind(endpoint.provider);
    return new ProviderError(`The model ${model} of ${label} ${what} (LLM key "${endpoint.keyName}"). ${more}`.trim());
  }
}

/**
 * Asks a model, runs the tools that it calls, and asks again with their results, until it answers. The time, the tries
 * and the abort hold for everything together; tokens are summed.
 * @throws ProviderError when the model fails, calls tools without end or as they cannot be called, or twice answers beside
 *   `answerSchema` (the text is then in the message); Error for a schema that cannot be checked; ToolWaits; the signal's reason
 *   when it fires
 */
export async function chatWithTools(request: ChatLoopRequest): Promise<ChatLoopResult> {
  request.signal?.throwIfAborted();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(timedOut(request)), request.timeoutMs);
  const unfollow = request.signal && follow(stop, request.signal);
  try {
    return await new Conversation(request, stop.signal).run();
  } catch (error) {
    // Tools that were called beside the one that failed: nobody waits for them any more.
    stop.abort(error);
    throw error;
  } finally {
    clearTimeout(timer);
    unfollow?.();
  }
}

const TIMEOUT_MS = 90_000;

type RunTool = ToolAnswer & { isMalformed?: boolean };

const failed = (result: string): RunTool => ({ result, success: false });

/**
 * Runs one tool call. Whatever goes wrong is an answer that the model can read and act on.
 * @throws the signal's reason when it fires; ToolWaits; the error of a database that is away, which is no fault of the call
 */
async function runTool(call: WireToolCall, tools: readonly AgentToolDefinition[], signal: AbortSignal): Promise<RunTool> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return failed(`There is no tool named "${call.name}". The tools are: ${tools.map(({ name }) => name).join(", ")}.`);
  if (call.isMalformed)
    return {
      ...failed("The arguments were not a JSON object. Call the tool again with arguments that follow its schema."),
      isMalformed: true,
    };
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const either = AbortSignal.any([signal, limit]);
  try {
    const { result, ...rest } = await orAborted(tool.call(call.args, { signal: either }), either);
    return { result: cutResult(result) || "(The tool answered with nothing.)", ...rest };
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return failed(`The tool did not answer within ${TIMEOUT_MS / 1000} seconds.`);
    if (isDatabaseAway(error) || error instanceof ToolWaits) throw error;
    if (isAppError(error)) return { ...failed(error.message), isMalformed: error instanceof MalformedArguments };
    log.error({ err: error, tool: call.name }, "a tool failed with an internal error");
    return failed("The tool failed with an internal error, not because of its arguments.");
  }
}

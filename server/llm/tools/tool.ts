import { AppError, isAppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import type { ToolSource } from "#server/runs/tool-call-schema.ts";

/** A JSON Schema (an object) as a model reads it. */
export type JsonSchema = Record<string, unknown>;

/** What a tool answered. `result` is text for the model, a failure too: it says what went wrong and what to try. */
export interface ToolAnswer {
  result: string;
  success: boolean;
  /** What the result holds of the project's knowledge and of the web, for citations. */
  sources?: ToolSource[];
}

/** One tool as the chat loop offers and calls it, wherever it comes from: built in, an MCP server, a knowledge source. */
export interface AgentToolDefinition {
  /** As the model calls it: 1 to 64 of `A-Z a-z 0-9 _ -`, unique among the tools of one agent. */
  name: string;
  description: string;
  /** JSON Schema of the arguments, always of type object. */
  parameters: JsonSchema;
  /**
   * Runs the tool with the arguments that the model gave, which nobody has checked yet. What fails (wrong arguments, a
   * service that is away, time run out) is an answer with `success: false`, never an exception.
   * @throws the signal's reason when the signal aborts
   */
  call(args: unknown, options: { signal: AbortSignal }): Promise<ToolAnswer>;
}

/** What a tool throws at arguments that it does not take; the message is for the model. */
export class MalformedArguments extends AppError {
  constructor(message: string) {
    super("VALIDATION_ERROR", message);
  }
}

/** What a tool throws that has to wait for something: the conversation ends here, and can be gone on with from its messages. */
export class ToolWaits extends Error {}

/** Longest result that a model is given, in characters; about 12,000 tokens. */
export const MAX_RESULT_CHARACTERS = 50_000;

/** The text, cut to what a model is given; one that was cut says so at its end. */
export function cutResult(text: string, most = MAX_RESULT_CHARACTERS): string {
  if (text.length <= most) return text;
  // A secret that is cut in two is not recognised any more.
  return `${masked(text).slice(0, most).toWellFormed()}\n[cut here: ${text.length.toLocaleString("en")} characters in all]`;
}

/** Longest texts of a source that are told and kept, in characters. */
const MOST_TITLE = 300;
const MOST_EXCERPT = 200;
const MOST_ADDRESS = 2000;

/** A source with no more of its text than what finds it again. */
export function toolSource({ text, ...source }: Omit<ToolSource, "excerpt"> & { text: string }): ToolSource {
  // A secret that is cut in two is not recognised any more.
  const beginning = (whole: string, most: number) => masked(whole).slice(0, most).toWellFormed();
  const { title, place, uri } = source;
  return {
    ...source,
    title: beginning(title, MOST_TITLE),
    place: beginning(place, MOST_TITLE),
    // A part of an address leads nowhere.
    uri: uri !== null && uri.length <= MOST_ADDRESS ? uri : null,
    excerpt: beginning(text.trim(), MOST_EXCERPT),
  };
}

/** A page of the web that was read just now. */
export const pageSource = ({ url, title, text }: { url: string; title: string; text: string }): ToolSource =>
  toolSource({ number: null, rag_id: null, document_id: null, title, uri: url, place: "", text, read_at: new Date().toISOString() });

/** Turns what a tool threw into an answer for the model; an abort stays an abort, and a fault of ours one of ours. */
export function failedAnswer(error: unknown, signal: AbortSignal): ToolAnswer {
  signal.throwIfAborted();
  if (isAppError(error)) return { result: error.message, success: false };
  throw error;
}

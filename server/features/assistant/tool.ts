import type { ToolRefs } from "#server/features/assistant/schema.ts";
import type { JsonSchema } from "#server/llm/tools/tool.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/** In whose name and for what a tool is called. */
export interface ToolContext {
  /** The person whose thread it is, as a member of the project at this moment; everything done is audited as through the assistant. */
  principal: ProjectPrincipal;
  thread_id: string;
  message_id: string;
  /** Ends the call. */
  signal: AbortSignal;
}

/** What came of a tool call. */
export interface ToolOutcome {
  /** For the model: text or JSON; a failure too, which says what went wrong and what to try. */
  result: string;
  /** For people: one line. */
  summary: string;
  ok: boolean;
  /** What it dealt with, for links. */
  refs?: ToolRefs;
}

/** What somebody has to approve before a tool is called. */
export interface ConfirmationCard {
  /** What would be done, as a heading: `Approve the review “Check”`. */
  action: string;
  /** Where, with what, and what it may cost. */
  summary: string;
}

/** One tool of the assistant. */
export interface AssistantTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonSchema;
  /** Whether it only reads, so that it is offered in mode `ask` too. */
  isReading: boolean;
  /**
   * Asked before each call, with arguments that fit the schema.
   * @returns what must be approved first; null when nothing
   * @throws AppError as the call would
   */
  confirmation?(args: Record<string, unknown>, context: ToolContext): Promise<ConfirmationCard | null>;
  /**
   * @throws AppError with a message for the model (its role is too low, there is no such thing, arguments do not fit); the
   *   signal's reason when that fires
   */
  call(args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome>;
}

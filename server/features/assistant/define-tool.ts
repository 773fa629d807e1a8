import { z } from "zod";
import type { CardDetail, ToolRefs } from "#server/features/assistant/schema.ts";
import { projectMask } from "#server/features/credentials/project-mask.ts";
import { type JsonSchema, MalformedArguments } from "#server/llm/tools/tool.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { withMask } from "#server/platform/mask-scope.ts";
import { fieldErrors } from "#server/platform/rpc/trpc.ts";
import { sha256 } from "#server/platform/secrets.ts";

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
  /** The whole of each text that stands cut in the summary, to be shown on request. */
  details?: readonly CardDetail[];
  /** All that the approval is for, as it is now: of anything else it is none. */
  about: string;
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
   * Asked before each call.
   * @returns what must be approved first; null when nothing
   * @throws AppError as the call would
   */
  confirmation?(args: Record<string, unknown>, context: ToolContext): Promise<ConfirmationCard | null>;
  /**
   * @throws AppError with a message for the model (its role is too low, there is no such thing); MalformedArguments; the
   *   signal's reason when it fires
   */
  call(args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome>;
}

type Kept = Record<string, unknown>;

/** What of JSON Schema every vendor's models take; the rest is checked by the tool itself. */
const KEPT = new Set([
  ...["type", "description", "properties", "required", "additionalProperties", "items", "enum", "anyOf"],
  ...["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"],
]);

/** A schema in the plain words of JSON Schema: no references, no `oneOf`, no `const`. */
function plain(schema: unknown, definitions: Kept): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item, definitions));
  if (schema === null || typeof schema !== "object") return schema;
  const { $ref, oneOf, const: only, ...rest } = schema as Kept;
  if (typeof $ref === "string") return plain({ ...(definitions[$ref.split("/").at(-1) ?? ""] as Kept), ...rest }, definitions);
  const entries = Object.entries({
    ...rest,
    ...(oneOf !== undefined && { anyOf: oneOf }),
    ...(only !== undefined && { enum: [only] }),
  }).filter(([key]) => KEPT.has(key));
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (key === "properties")
        return [key, Object.fromEntries(Object.entries(value as Kept).map(([name, field]) => [name, plain(field, definitions)]))];
      if (key === "additionalProperties" && typeof value === "object") return [key, true];
      return [key, typeof value === "object" && key !== "enum" && key !== "required" ? plain(value, definitions) : value];
    }),
  );
}

/** The arguments of a tool, as models of every vendor read them. */
export function parametersOf(input: z.ZodObject): JsonSchema {
  const { $defs = {}, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return plain(schema, $defs) as JsonSchema;
}

/** A tool by the schema of its arguments. */
interface ToolDefinition<Input extends z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  isReading?: boolean;
  confirmation?(args: z.infer<Input>, context: ToolContext): Promise<ConfirmationCard | null>;
  call(args: z.infer<Input>, context: ToolContext): Promise<ToolOutcome>;
}

/** @throws MalformedArguments that names what does not fit */
export function parsedArguments<Input extends z.ZodObject>(input: Input, args: Record<string, unknown>): z.infer<Input> {
  const { data, error } = input.safeParse(args);
  if (!error) return data;
  const message = fieldErrors(error)
    .map(({ path, message }) => `${path || "arguments"}: ${message}`)
    .join(" ");
  throw new MalformedArguments(`The arguments do not fit. ${message}`);
}

/** Makes a tool whose arguments are checked and whose answers hold no secret of the project, in whatever it read. */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): AssistantTool {
  const { name, description, input, isReading = false, confirmation, call } = definition;
  return {
    name,
    description,
    isReading,
    parameters: parametersOf(input),
    ...(confirmation && {
      async confirmation(args, context) {
        const card = await confirmation(parsedArguments(input, args), context);
        const masker = card && (await projectMask(context.principal.project.id));
        return card && masker && { ...masker.deep(card), about: sha256(card.about) };
      },
    }),
    async call(args, context) {
      const given = parsedArguments(input, args);
      const masker = await projectMask(context.principal.project.id);
      const { result, summary, ...rest } = await withMask(masker.text, () => call(given, context));
      return { ...rest, result: masker.text(result), summary: masker.text(summary) };
    },
  };
}

import { z } from "zod";
import { WorkflowDraft } from "#server/features/workflows/schema.ts";
import { MAX_ANSWER, MAX_MESSAGE } from "#server/shared/message-length.ts";
import { Id, ignoredFields, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";
import { MOST_OPERATIONS, Operation } from "#server/workflow/operations.ts";
import { Graph, graphShape, Problem } from "#server/workflow/schema.ts";

// The assistant of the web app (contract, section 8). A thread holds messages; a message is what a person wrote together with all
// that the assistant did and said about it, told by the events of the thread.

/** On which of the project's LLM keys the assistant works. */
export const AssistantSettings = z.object({
  llm_key_id: Id.nullable().meta({ description: "null: not chosen" }),
  model: z.string().meta({ description: "Empty: not chosen", example: "gpt-5" }),
  ready: z.boolean().meta({ description: "Whether messages are taken" }),
  problem: z.string().optional().meta({ description: "Why they are not, and what to do; left out when they are" }),
});
export type AssistantSettings = z.infer<typeof AssistantSettings>;
const choice = {
  llm_key_id: Id.nullable().meta({ title: "LLM key", description: "One whose models can call tools; null switches the assistant off" }),
  model: z.string().trim().max(200).meta({ title: "Model", description: "As the key's provider names it", example: "gpt-5" }),
};
/** What there is to choose, for the form. */
export const AssistantChoice = z.strictObject(choice);
export const UpdateAssistantSettingsInput = z.strictObject({
  ...ignoredFields(AssistantSettings, choice),
  ...z.object(choice).partial().shape,
});
export type UpdateAssistantSettingsInput = z.infer<typeof UpdateAssistantSettingsInput>;

const Title = z.string().trim().max(200).meta({ title: "Title", example: "A digest every morning" });
const thread = {
  id: Id,
  title: Title.meta({ description: "The beginning of the first message, unless it was changed" }),
  workflow_id: Id.nullable().meta({ description: "The workflow that it was begun beside" }),
  is_working: z.boolean().meta({ description: "Whether a message is not over: queued, worked on, or waiting for an answer" }),
  is_waiting: z.boolean().meta({ description: "Whether it goes on only once the person has answered or decided something" }),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const ThreadSummary = z.object(thread).meta({ id: "AssistantThreadSummary" });
export type ThreadSummary = z.infer<typeof ThreadSummary>;

export const MessageMode = z.enum(["ask", "build"]).meta({ description: "ask: only looks and answers; build: also changes and runs" });
export type MessageMode = z.infer<typeof MessageMode>;

/** What a person looks at while writing, or names. */
export const MessageContext = z.strictObject({
  workflow_id: Id.optional(),
  execution_id: Id.optional(),
  node_id: z.string().min(1).max(100).optional(),
  canvas_id: Id.optional(),
  mentions: z
    .array(z.strictObject({ kind: z.enum(["workflow", "agent", "run", "node", "document"]), id: z.string().min(1).max(200) }))
    .max(20)
    .optional()
    .meta({
      description:
        "What was named with @ or attached; a node's id is its workflow's id, a slash and its own, a document's that of its RAG source, a slash and its own",
    }),
});
export type MessageContext = z.infer<typeof MessageContext>;

/** Something that a message is about beside its words, by the name that it had then; its id is in the message's context. */
/** Kinds of requests of the assistant that wait for the user. */
export type RequestKind = "question" | "confirmation";

export const Attached = z.object({ kind: z.enum(["workflow", "execution", "node", "canvas"]), name: z.string() });
export type Attached = z.infer<typeof Attached>;

export const MessageStatus = z
  .enum(["queued", "working", "waiting", "done", "failed", "stopped"])
  .meta({ description: "waiting: for an answer or a decision" });
export type MessageStatus = z.infer<typeof MessageStatus>;

const tokens = {
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  cost: z.number().nullable().meta({ description: "USD; null when the model's price is not known" }),
};

const messageEvent = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.object({ type: z.literal(type), message_id: Id, ...fields });

/** What a tool call dealt with, for links: whichever there is. */
export const ToolRefs = z.object({
  workflow_id: Id.optional(),
  execution_id: Id.optional(),
  rerun_of: Id.optional().meta({ description: "The execution that this one repeats, for a comparison" }),
  node_id: z.string().optional(),
  agent_id: Id.optional(),
  canvas_id: Id.optional(),
  proposal_id: Id.optional(),
  page: z.string().optional().meta({ description: "Path of a page of the guide", example: "/docs/triggers#webhook" }),
});
export type ToolRefs = z.infer<typeof ToolRefs>;

export const ProposalStatus = z.enum(["open", "accepted", "rejected", "conflict"]);
export type ProposalStatus = z.infer<typeof ProposalStatus>;
/** Which form a question asks a person to fill in, where what is missing is a secret: it never goes through the thread. */
export const QuestionForm = z.enum(["llm_key", "credential", "mcp_server"]);

/** What would stop a run of a workflow with a proposal. */
export const ProposalProblem = Problem.extend({
  severity: Problem.shape.severity.default("error"),
  is_new: z.boolean().default(true).meta({ description: "false: the draft that it was made for has it, too" }),
}).meta({ id: "ProposalProblem" });

/** A text that a person approves, whole. */
export const CardDetail = z.object({ label: z.string().meta({ example: "the input" }), text: z.string() });
export type CardDetail = z.infer<typeof CardDetail>;

/** Why a message ended without an answer; what it says in words may change. */
export const FailureCode = z.enum(["stopped", "cut_off", "bound", "settings", "provider", "refused", "internal"]).meta({
  description:
    "stopped: a person stopped it; cut_off: the work broke off; bound: it came to the most for one message, and another goes on; settings: another key or model mends it; provider: the model's service failed; refused: it may not be done, as the words say; internal: an error of the server",
});
export type FailureCode = z.infer<typeof FailureCode>;

/** The data of each event of a thread's stream. `type` repeats the event's name. */
export const ThreadEvent = z.discriminatedUnion("type", [
  messageEvent("message", {
    content: z.string(),
    mode: MessageMode,
    context: MessageContext,
    attached: z.array(Attached).default([]).meta({ description: "What the context names, mentions aside: those stand in the content" }),
    created_at: Timestamp,
  }),
  messageEvent("message_started", {}),
  messageEvent("text_delta", { text: z.string() }),
  messageEvent("text_reset", {}).meta({
    description: "Forget the text since the last tool call: the call of the model is being tried again",
  }),
  messageEvent("tool_call", { id: z.string(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  messageEvent("tool_result", { id: z.string(), name: z.string(), ok: z.boolean(), summary: z.string(), refs: ToolRefs.optional() }),
  messageEvent("proposal", { id: Id, workflow_id: Id, summary: z.string(), status: ProposalStatus, problems: z.array(ProposalProblem) }),
  messageEvent("question", { id: Id, text: z.string(), options: z.array(z.string()), form: QuestionForm.optional() }),
  messageEvent("confirmation", {
    id: Id,
    action: z.string(),
    summary: z.string(),
    details: z.array(CardDetail).default([]).meta({ description: "The whole of what stands cut in the summary" }),
  }),
  messageEvent("decided", {
    id: Id.meta({ description: "Of the question, confirmation or proposal" }),
    outcome: z.enum(["answered", "approved", "rejected", "accepted", "conflict"]),
    answer: z.string().optional(),
  }),
  messageEvent("usage", tokens),
  messageEvent("message_done", {}),
  messageEvent("message_failed", {
    error: z.string(),
    code: FailureCode.default("internal"),
    stopped: z.boolean().meta({ description: "true: a person stopped it" }),
  }),
]);
export type ThreadEvent = z.infer<typeof ThreadEvent>;

export const ThreadMessage = z
  .object({
    id: Id,
    content: z.string().meta({ description: "What the person wrote" }),
    mode: MessageMode,
    context: MessageContext,
    status: MessageStatus,
    answer: z.string().meta({ description: "What the assistant has said so far" }),
    error: z.string().nullable(),
    ...tokens,
    created_at: Timestamp,
  })
  .meta({ id: "AssistantMessage" });
export type ThreadMessage = z.infer<typeof ThreadMessage>;

export const Thread = z
  .object({
    ...thread,
    messages: z.array(ThreadMessage),
    last_event_id: z.number().int().meta({ description: "Number of the thread's last event" }),
  })
  .meta({ id: "AssistantThread" });
export type Thread = z.infer<typeof Thread>;
export const ThreadPage = pageOf(ThreadSummary);

export const ThreadRef = z.strictObject({ thread_id: Id });
export const StopInput = ThreadRef.extend({
  message_id: Id.optional().meta({ description: "Only this message, the others go on" }),
});
export type StopInput = z.infer<typeof StopInput>;
export const CreateThreadInput = z.strictObject({ title: Title.optional(), workflow_id: Id.optional() });
export type CreateThreadInput = z.infer<typeof CreateThreadInput>;
export const RenameThreadInput = z.strictObject({ thread_id: Id, title: Title.min(1, "Give it a title.") });

export const SendMessageInput = z.strictObject({
  thread_id: Id,
  content: z.string().trim().min(1, "Write something.").max(MAX_MESSAGE),
  context: MessageContext.optional(),
  mode: MessageMode.default("build"),
});
export type SendMessageInput = z.infer<typeof SendMessageInput>;
export const SentMessage = z.object({ message_id: Id });

export const AnswerQuestionInput = z.strictObject({ question_id: Id, answer: z.string().trim().min(1, "Answer it.").max(MAX_ANSWER) });
export const DecideConfirmationInput = z.strictObject({ confirmation_id: Id, decision: z.enum(["approved", "rejected"]) });

/** What became of a question or a confirmation. */
export const DecidedRequest = z.object({ id: Id, outcome: z.enum(["answered", "approved", "rejected"]) });

/** A change of a workflow that waits for a person. */
export const Proposal = z
  .object({
    id: Id,
    workflow_id: Id,
    base: z.object({ draft_revision: z.number().int(), ...graphShape }).meta({ description: "The draft that it was made for" }),
    graph: Graph.meta({ description: "The draft with the operations done" }),
    operations: z.array(Operation),
    summary: z.string(),
    status: ProposalStatus,
    problems: z.array(ProposalProblem).meta({ description: "What would stop a run of the workflow with it, what is new first" }),
    created_at: Timestamp,
  })
  .meta({ id: "Proposal" });
export type Proposal = z.infer<typeof Proposal>;
/** A proposal that was accepted, with the draft that has it now. */
export const AcceptedProposal = z.object({ ...Proposal.shape, draft: WorkflowDraft });
export type AcceptedProposal = z.infer<typeof AcceptedProposal>;
export const OpenProposals = z.object({ items: z.array(Proposal) });
export const ProposalRef = z.strictObject({ proposal_id: Id });
export const AcceptProposalInput = z.strictObject({
  proposal_id: Id,
  leave_out: z
    .array(z.string().min(1).max(100))
    .max(MOST_OPERATIONS)
    .optional()
    .meta({ description: "Ids of nodes whose changes are not taken, nor connections to new ones among them" }),
});
export type AcceptProposalInput = z.infer<typeof AcceptProposalInput>;

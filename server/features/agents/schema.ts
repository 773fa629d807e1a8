import { z } from "zod";
import { RunToolCall, ToolCall } from "#server/runs/tool-call-schema.ts";
import { Description, Id, ignoredFields, Name, pageOf, pageQuery, TimeInput, Timestamp } from "#server/shared/primitives-schema.ts";

export const AgentTool = z.enum(["web_search", "web_scraper"]);

/** Expressions stand in braces, so they could not read a name with braces in it. */
export const AgentName = Name.regex(/^[^{}]*$/, "Leave out braces: expressions stand in braces and could not read the name.");

const writable = {
  name: AgentName.meta({ description: "Unique in the project; expressions read {{name.output}}", example: "Writer" }),
  description: Description,
  llm_key_id: Id.meta({ title: "LLM key", description: "The project's LLM key that pays for the calls" }),
  model: z
    .string()
    .trim()
    .min(1, "Choose or type a model.")
    .max(200)
    .meta({ title: "Model", description: "Plain model id; the routing prefix is added by the service", example: "gpt-4.1-mini" }),
  system_prompt: z
    .string()
    .max(100_000)
    .meta({ title: "System prompt", description: "Instructions that every call starts with", example: "Answer in one line." }),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .meta({ title: "Temperature", description: "0 to 2; null leaves it to the model", example: 0.2 }),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .meta({ title: "Longest answer", description: "In tokens; null leaves it to the model", example: null }),
  tools: z.array(AgentTool).max(10).meta({ title: "Tools", description: "Built-in tools; the model must know how to call tools" }),
  mcp_server_ids: z.array(Id).max(50).meta({ description: "MCP servers whose tools it may call" }),
  rag_ids: z.array(Id).max(50).meta({ description: "RAG sources that it may search" }),
  skill_ids: z.array(Id).max(50).meta({ description: "Skills that its prompt begins with" }),
  output_schema: z.record(z.string(), z.unknown()).nullable().meta({
    title: "Output schema",
    description:
      "JSON Schema that the answer must follow: at most 65,536 characters, 32 levels, 2,000 properties and 1,000 values of enums together",
    example: null,
  }),
};

const VersionNumber = z.number().int().min(1).max(2_147_483_647).meta({ description: "Number of the version, from 1", example: 3 });

/** All that a save of an agent can change, as it is kept. */
const kept = { ...writable, name: z.string().meta({ example: "Writer" }), description: z.string(), model: z.string() };

export const Agent = z
  .object({
    id: Id,
    ...kept,
    version: VersionNumber.meta({ description: "Counts up with each save that changes something" }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof Agent>;

export const UpdatedAgent = z
  .object({
    ...Agent.shape,
    workflows_changed: z
      .object({
        items: z.array(z.object({ id: Id, name: z.string().meta({ example: "Daily digest" }) })).meta({ description: "The first 50" }),
        total: z.number().int().meta({ example: 1 }),
      })
      .meta({ description: "Workflows whose expressions and conditions follow the agent's new name" }),
  })
  .meta({ id: "UpdatedAgent" });
export type UpdatedAgent = z.infer<typeof UpdatedAgent>;

const { name, llm_key_id, model, ...rest } = writable;
export const CreateAgentInput = z.strictObject({
  ...ignoredFields(Agent, writable),
  name,
  llm_key_id,
  model,
  ...z.object(rest).partial().shape,
});
export type CreateAgentInput = z.infer<typeof CreateAgentInput>;

/** The fields by which an agent's model is called, the schema of its answers aside. */
export const callFields = {
  llm_key_id: true,
  model: true,
  system_prompt: true,
  temperature: true,
  max_tokens: true,
  tools: true,
  mcp_server_ids: true,
  rag_ids: true,
  skill_ids: true,
} as const;
export const UpdateAgentInput = z.strictObject({
  ...ignoredFields(UpdatedAgent, writable),
  agent_id: Id,
  ...z.object(writable).partial().shape,
  version: VersionNumber.optional().meta({
    description:
      "The version that you changed; an older one than the current is refused with 409 that says who saved, left out it overwrites",
  }),
  if_unchanged_since: TimeInput.optional().meta({
    description: "The same by time: the `updated_at` that the change begins from",
  }),
});
export type UpdateAgentInput = z.infer<typeof UpdateAgentInput>;
export const AgentRef = z.strictObject({ agent_id: Id });
export const AgentPage = pageOf(Agent);

/** So many of the newest versions of an agent are kept, whatever is in them. */
export const NEWEST_VERSIONS = 100;
/** So many are kept in all: older ones only if they have answered in a run, whose log names them. */
export const MOST_VERSIONS = 500;

const versionSummary = {
  version: VersionNumber,
  is_current: z.boolean().meta({ description: "Whether runs ask it now", example: true }),
  saved_by: z
    .object({ id: Id, name: z.string().meta({ example: "Ada Weaver" }) })
    .nullable()
    .meta({ description: "Who saved it; null when that is not known, or the account is gone" }),
  created_at: Timestamp,
  changed: z
    .array(z.enum(Object.keys(writable) as (keyof typeof writable)[])) // cast: keys of an object of ours
    .meta({ description: "Fields that are not as in the version before; of the first one none", example: ["system_prompt"] }),
  restored_from: VersionNumber.nullable().meta({
    description: "The version that was restored by it; null when it was saved",
    example: null,
  }),
};
export const AgentVersionSummary = z.object(versionSummary).meta({ id: "AgentVersionSummary" });
export type AgentVersionSummary = z.infer<typeof AgentVersionSummary>;
export const AgentVersionPage = pageOf(AgentVersionSummary);
export const AgentVersion = z
  .object({ ...versionSummary, config: z.object(kept).meta({ description: "Settings of the agent in this version" }) })
  .meta({ id: "AgentVersion" });
export type AgentVersion = z.infer<typeof AgentVersion>;
export const ListAgentVersionsInput = z.strictObject({ agent_id: Id, ...pageQuery });
export const AgentVersionRef = z.strictObject({ agent_id: Id, version: VersionNumber });

export const ListAgentWorkflowsInput = z.strictObject({ agent_id: Id, ...pageQuery });
export const AgentWorkflow = z
  .object({ id: Id, name: z.string().meta({ example: "Daily digest" }), enabled: z.boolean() })
  .meta({ id: "AgentWorkflow" });
export const AgentWorkflowPage = pageOf(AgentWorkflow);

const message = z
  .string()
  .max(200_000)
  .regex(/\S/, "Write a message.")
  .meta({ description: "What the agent is asked", example: "Write a line about looms." });
const cost = z
  .number()
  .nullable()
  .meta({ description: "USD; null when the model's price is not known, see `prices` of the LLM key", example: 0.000042 });
const truncated = z
  .literal(true)
  .optional()
  .meta({ description: "Only there when the answer ends at the limit of its length (max_tokens, or the model's own) and may be cut" });
const agent_version = VersionNumber.nullable().meta({
  description: "The version of the agent that answered; null of a configuration that is not saved",
});
export const TestAgentInput = z.strictObject({ agent_id: Id, message });

export const AgentReply = z
  .object({
    response: z.string().meta({ example: "A loom turns thread into cloth." }),
    model: z.string(),
    provider: z.string().meta({ example: "openai" }),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    cost,
    agent_version,
    tool_calls: z.array(ToolCall),
    truncated,
  })
  .meta({ id: "AgentReply" });
export type AgentReply = z.infer<typeof AgentReply>;

const turn = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.string().max(200_000),
});
export const ChatBody = z
  .strictObject({
    message: message.meta({ description: "What to ask" }),
    history: z.array(turn).max(500).default([]).meta({ description: "Earlier turns, oldest first" }),
    stream: z.boolean().default(true).meta({ description: "true: server-sent events; false: one JSON answer" }),
  })
  .meta({ id: "ChatBody" });
export type ChatBody = z.infer<typeof ChatBody>;

export const TryAgentBody = z
  .strictObject({
    config: CreateAgentInput.partial({ name: true }).meta({
      description:
        "An agent as it would be created, or as a GET or a version gave it; what is left out is as at creation, and the name does not matter",
    }),
    message: message.meta({ description: "What to ask" }),
    history: ChatBody.shape.history,
    stream: z.boolean().default(false).meta({ description: "true: server-sent events, as of a chat; false: one JSON answer" }),
    agent_id: Id.optional().meta({
      description: "The agent that the configuration is a change of: what it uses is counted as that agent's",
    }),
  })
  .meta({ id: "TryAgentBody" });
export type TryAgentBody = z.infer<typeof TryAgentBody>;

const callId = z.string().meta({ description: "Pairs a result with its call" });
const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) => z.object({ type: z.literal(type), ...shape });

/** What a chat tells while it goes on: the data of its server-sent events, whose `event` is the type. */
export const ChatEvent = z
  .discriminatedUnion("type", [
    event("delta", { content: z.string().meta({ description: "The next piece of the answer" }) }).meta({
      id: "ChatDeltaEvent",
      description: "What the agent says next",
    }),
    event("tool_call", { id: callId, ...ToolCall.shape }).meta({
      id: "ChatToolCallEvent",
      description: "The agent calls a tool; calls of one round begin together",
    }),
    event("tool_result", {
      id: callId,
      name: z.string(),
      result: z.string().meta({ description: "What the model gets to read, at most about 50,000 characters" }),
      success: z.boolean(),
      sources: RunToolCall.shape.sources,
    }).meta({ id: "ChatToolResultEvent", description: "A tool has answered" }),
    event("done", { input_tokens: z.number().int(), output_tokens: z.number().int(), cost, agent_version, truncated }).meta({
      id: "ChatDoneEvent",
      description: "The last event of a chat that ended well, with the tokens and the cost of all rounds",
    }),
    event("error", { detail: z.string().meta({ description: "What went wrong, and what to do" }) }).meta({
      id: "ChatFailedEvent",
      description: "The last event of a chat that failed",
    }),
  ])
  .meta({ id: "ChatEvent", description: "The data of one event of a chat" });
export type ChatEvent = z.infer<typeof ChatEvent>;

/** Stands where the question will be. */
export const PromptPreviewMessage = "(what the agent is asked)";

/** The fields of an agent's form that its model gets to know of. */
export const PromptPreviewInput = CreateAgentInput.pick({
  ...callFields,
  output_schema: true,
});
export type PromptPreviewInput = z.infer<typeof PromptPreviewInput>;

const Json = z.record(z.string(), z.unknown());

/** What a model would be sent. Not part of the REST API. */
export const PromptPreview = z.object({
  system: z
    .string()
    .nullable()
    .meta({ description: "The system message: system prompt, skills, and the schema where it is asked for in words" }),
  tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: Json })),
  response_format: Json.nullable(),
  body: Json.meta({ description: "The whole body of the first request" }),
});
export type PromptPreview = z.infer<typeof PromptPreview>;

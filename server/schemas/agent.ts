import { z } from "zod";
import { Description, Id, ignoredFields, Name, pageOf, Timestamp } from "#server/schemas/primitives.ts";

export const AgentTool = z.enum(["web_search", "web_scraper"]);

const writable = {
  name: Name.meta({ description: "Unique in the project; expressions read {{name.output}}" }),
  description: Description,
  llm_key_id: Id.meta({ title: "LLM key", description: "The project's LLM key that pays for the calls" }),
  model: z
    .string()
    .trim()
    .min(1, "Choose or type a model.")
    .max(200)
    .meta({ title: "Model", description: "Plain model id; the routing prefix is added by the service" }),
  system_prompt: z.string().max(100_000).meta({ title: "System prompt", description: "Instructions that every call starts with" }),
  temperature: z.number().min(0).max(2).nullable().meta({ title: "Temperature", description: "0 to 2; null leaves it to the model" }),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .meta({ title: "Longest answer", description: "In tokens; null leaves it to the model" }),
  tools: z.array(AgentTool).max(10).meta({ title: "Tools" }),
  mcp_server_ids: z.array(Id).max(50),
  rag_ids: z.array(Id).max(50),
  skill_ids: z.array(Id).max(50),
  output_schema: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ title: "Output schema", description: "JSON Schema that the answer must follow" }),
};

export const Agent = z
  .object({
    id: Id,
    ...writable,
    name: z.string(),
    description: z.string(),
    model: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof Agent>;

const { name, llm_key_id, model, ...rest } = writable;
export const CreateAgentInput = z.strictObject({
  ...ignoredFields(Agent, writable),
  name,
  llm_key_id,
  model,
  ...z.object(rest).partial().shape,
});
export type CreateAgentInput = z.infer<typeof CreateAgentInput>;
export const UpdateAgentInput = z.strictObject({ ...ignoredFields(Agent, writable), agent_id: Id, ...z.object(writable).partial().shape });
export type UpdateAgentInput = z.infer<typeof UpdateAgentInput>;
export const AgentRef = z.strictObject({ agent_id: Id });
export const AgentPage = pageOf(Agent);

const message = z.string().min(1, "Write a message.").max(200_000);
export const TestAgentInput = z.strictObject({ agent_id: Id, message });
export const ToolCall = z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) }).meta({ id: "ToolCall" });
export const AgentReply = z
  .object({
    response: z.string(),
    model: z.string(),
    provider: z.string(),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    tool_calls: z.array(ToolCall),
  })
  .meta({ id: "AgentReply" });
export type AgentReply = z.infer<typeof AgentReply>;

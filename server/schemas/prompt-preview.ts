import { z } from "zod";
import { CreateAgentInput, callFields } from "#server/schemas/agent.ts";

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

import { z } from "zod";
import { CreateAgentInput, callFields } from "#server/features/agents/schema.ts";

function isSchemaText(text: string): boolean {
  if (text.trim() === "") return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The request's fields as people fill them in: the output schema is text here. */
export const AgentForm = CreateAgentInput.pick({
  name: true,
  description: true,
  ...callFields,
}).extend({
  llm_key_id: CreateAgentInput.shape.llm_key_id.min(1, "Choose an LLM key."),
  output_schema: z
    .string()
    .max(200_000)
    .refine(isSchemaText, "This is not a JSON object. Check it for stray commas and quotes.")
    .meta({ title: "Output schema" }),
});
export type AgentForm = z.infer<typeof AgentForm>;

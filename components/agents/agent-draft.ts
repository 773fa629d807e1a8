import { z } from "zod";
import { type AgentForm, type Values, wholeValues } from "#components/agents/agent-form-schema.ts";
import { unsavedCopies } from "#components/unsaved-copy.ts";
import { AgentTool } from "#server/features/agents/schema.ts";

// What is typed may break every rule of the form: it is kept all the same.
const Typed = z.object({
  name: z.string(),
  description: z.string(),
  llm_key_id: z.string(),
  model: z.string(),
  system_prompt: z.string(),
  temperature: z.number().nullable(),
  max_tokens: z.number().nullable(),
  tools: z.array(AgentTool),
  mcp_server_ids: z.array(z.string()),
  rag_ids: z.array(z.string()),
  skill_ids: z.array(z.string()),
  output_schema: z.string(),
}) satisfies z.ZodType<Values>;

/** What somebody has changed of an agent and not published, and the agent that the changes began from; null of a new one. */
const AgentDraft = z.object({ values: Typed, before: Typed.nullable(), at: z.iso.datetime() });
export type AgentDraft = z.infer<typeof AgentDraft>;

const copies = unsavedCopies("treadle.agent-draft.", AgentDraft);

/** Under which a draft is kept: nobody else who signs in with this browser is shown it. */
export const draftId = (user_id: string, project_id: string, agent_id: string | undefined): string =>
  `${user_id}.${project_id}.${agent_id ?? "new"}`;

/** Keeps what stands in a form. @returns whether the browser took it */
export function keepDraft(id: string, values: z.input<typeof AgentForm>, before: Values | null): boolean {
  return copies.keep(id, { values: wholeValues(values), before, at: new Date().toISOString() });
}
export const dropDraft = copies.drop;
export const readDraft = copies.read;

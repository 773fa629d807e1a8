import type { z } from "zod";
import { agentForm } from "#components/agents/agent-form.gen.ts";
import type { AgentForm } from "#components/agents/agent-form-schema.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import { comparableJson } from "#server/shared/canonical-json.ts";

/** An example to start from. */
export const EXAMPLE_SCHEMA = JSON.stringify(
  {
    type: "object",
    properties: {
      category: { type: "string", enum: ["billing", "bug", "other"] },
      summary: { type: "string", description: "One sentence" },
    },
    required: ["category", "summary"],
    additionalProperties: false,
  },
  null,
  2,
);

/** What a new agent begins with. */
export type AgentSuggestion = Omit<Partial<Agent>, "id" | "version" | "created_at" | "updated_at">;

/** The form's values of an agent, or of a new one. */
export const formValues = (agent?: AgentSuggestion) => ({
  name: agent?.name ?? "",
  description: agent?.description ?? "",
  llm_key_id: agent?.llm_key_id ?? "",
  model: agent?.model ?? "",
  system_prompt: agent?.system_prompt ?? "",
  temperature: agent?.temperature ?? null,
  max_tokens: agent?.max_tokens ?? null,
  tools: agent?.tools ?? [],
  mcp_server_ids: agent?.mcp_server_ids ?? [],
  rag_ids: agent?.rag_ids ?? [],
  skill_ids: agent?.skill_ids ?? [],
  output_schema: agent?.output_schema ? JSON.stringify(agent.output_schema, null, 2) : "",
});

/** The form's values as the request takes them. */
export const requestOf = ({ output_schema, ...rest }: AgentForm) => ({
  ...rest,
  output_schema: output_schema.trim() === "" ? null : (JSON.parse(output_schema) as Record<string, unknown>), // cast: checked by the form
});

type Asked = Pick<AgentForm, "llm_key_id" | "model" | "temperature" | "tools" | "mcp_server_ids" | "rag_ids">;
const hasTools = ({ tools = [], mcp_server_ids = [], rag_ids = [] }: Partial<Asked>) =>
  tools.length + mcp_server_ids.length + rag_ids.length > 0;

/** Whether saving makes a check call: the model is asked with something else than before, or is offered tools for the first time. */
export const needsCheckCall = (before: Asked, after: Pick<Asked, "llm_key_id" | "model"> & Partial<Asked>): boolean =>
  before.llm_key_id !== after.llm_key_id ||
  before.model !== after.model ||
  (before.temperature ?? null) !== (after.temperature ?? null) ||
  (hasTools(after) && !hasTools(before));

/** A form's values, whole or not, as they stand while somebody types. */
export type Values = ReturnType<typeof formValues>;
export type Field = keyof Values;

/** What stands in the form, with every field. */
export function wholeValues(values: z.input<typeof AgentForm>): Values {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  return { ...formValues(), ...(Object.fromEntries(set) as Partial<Values>) }; // cast: its own fields
}

const LINKS: Partial<Record<Field, string>> = { mcp_server_ids: "MCP servers", rag_ids: "Knowledge", skill_ids: "Skills" };

/** What the form calls a field. */
export const fieldTitle = (field: Field): string => LINKS[field] ?? agentForm.fields[field].title ?? field;

/** What others saved while a form was open. */
export interface ConcurrentChanges {
  /** Who it was, as a sentence of the server's. */
  said: string;
  /** Fields that came into the form. */
  taken: Field[];
  /** Fields that both changed, each in another way; the form keeps its own. */
  clashes: Field[];
}

/** Lists are sets, and a schema is the same however it is written. */
function meaningOf(field: Field, value: unknown): string {
  if (Array.isArray(value)) return comparableJson([...value].sort());
  if (field !== "output_schema" || typeof value !== "string") return comparableJson(value ?? null);
  try {
    return comparableJson(JSON.parse(value));
  } catch {
    return value; // somebody is still writing it
  }
}

const isSame = (field: Field, one: Partial<Record<Field, unknown>>, other: Partial<Record<Field, unknown>>) =>
  meaningOf(field, one[field]) === meaningOf(field, other[field]);

/** The fields that do not say the same on both sides, in the order of the form. */
export const changedFields = (before: Partial<Record<Field, unknown>>, after: Partial<Record<Field, unknown>>): Field[] =>
  (Object.keys(formValues()) as Field[]).filter((field) => !isSame(field, before, after)); // cast: an object of ours

/** The form after others have saved: their changes are in it, and its own stay. */
export function mergeForm<Mine extends Partial<Record<Field, unknown>>>({
  before,
  mine,
  theirs,
}: {
  before: Values;
  mine: Mine;
  theirs: Values;
}): { values: Mine } & Pick<ConcurrentChanges, "taken" | "clashes"> {
  const changed = changedFields(before, theirs);
  const taken = changed.filter((field) => isSame(field, before, mine));
  const clashes = changed.filter((field) => !taken.includes(field) && !isSame(field, mine, theirs));
  return { values: { ...mine, ...Object.fromEntries(taken.map((field) => [field, theirs[field]])) }, taken, clashes };
}

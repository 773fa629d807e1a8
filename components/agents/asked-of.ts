import type { z } from "zod";
import { AgentForm } from "#components/agents/agent-form-schema.ts";
import { type Field, fieldTitle, requestOf } from "#components/agents/agent-values.ts";
import type { PromptPreviewInput } from "#server/features/agents/schema.ts";

/** What a model gets to know of; the rest of the form is for people. */
const Asked = AgentForm.omit({ name: true, description: true });

/** The form's values as a question about them takes them, saved or not; or what is still missing, as a sentence. */
export function askedOf({ name: _, description: __, ...given }: z.input<typeof AgentForm>): PromptPreviewInput | string {
  const parsed = Asked.safeParse(given);
  if (!parsed.success) {
    const { path: [field] = [], message = "" } = parsed.error.issues[0] ?? {};
    return `${fieldTitle(field as Field)}: ${message}`; // cast: the schema's own fields
  }
  const { name: ___, ...asked } = requestOf({ name: "", ...parsed.data });
  return asked;
}

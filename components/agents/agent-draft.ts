import type { z } from "zod";
import type { AgentForm } from "#components/agents/agent-form-schema.ts";
import { formValues, type Values, wholeValues } from "#components/agents/agent-values.ts";
import { unsavedCopies } from "#components/unsaved-copy.ts";

/** What somebody has changed of an agent and not published, and the agent that the changes began from; null of a new one. */
export interface AgentDraft {
  values: Values;
  before: Values | null;
  /** ISO 8601. */
  at: string;
}

/** Whether a value is of the kind of the one that a new agent has in its place. What is typed may break every rule of the form. */
const isLike = (value: unknown, preset: unknown): boolean => {
  if (Array.isArray(preset)) return Array.isArray(value) && value.every((one) => typeof one === "string");
  return preset === null ? value === null || typeof value === "number" : typeof value === typeof preset;
};

/** The fields of the form out of what was kept; looked at by hand, since the form is drawn with it, before its schema comes. */
function valuesIn(kept: Partial<Values>): Values {
  const presets = Object.entries(formValues());
  const known = presets.map(([field, preset]) => {
    const value = kept[field as keyof Values];
    if (!isLike(value, preset)) throw new Error(`${field} differs from its stored form`);
    return [field, value];
  });
  return Object.fromEntries(known) as Values; // cast: its own fields
}

const copies = unsavedCopies<AgentDraft>("treadle.agent-draft.", {
  parse: (kept) => {
    const { values, before, at } = kept as AgentDraft; // cast: what is no draft throws in the next line
    return { values: valuesIn(values), before: before && valuesIn(before), at: new Date(at).toISOString() };
  },
});

/** Under which a draft is kept: nobody else who signs in with this browser is shown it. */
export const draftId = (user_id: string, project_id: string, agent_id: string | undefined): string =>
  `${user_id}.${project_id}.${agent_id ?? "new"}`;

/** Keeps what stands in a form. @returns whether the browser took it */
export function keepDraft(id: string, values: z.input<typeof AgentForm>, before: Values | null): boolean {
  return copies.keep(id, { values: wholeValues(values), before, at: new Date().toISOString() });
}
export const dropDraft = copies.drop;
export const readDraft = copies.read;

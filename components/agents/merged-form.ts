import type { formValues } from "#components/agents/agent-form-schema.ts";
import { canonical } from "#server/workflow/diff.ts";

type Values = ReturnType<typeof formValues>;
export type Field = keyof Values;

/** What others saved while a form was open. */
export interface Meanwhile {
  /** Who it was, as a sentence of the server's. */
  said: string;
  /** Fields that came into the form. */
  taken: Field[];
  /** Fields that both changed, each in another way; the form keeps its own. */
  clashes: Field[];
}

/** Lists are sets, and a schema is the same however it is written. */
function meaningOf(field: Field, value: unknown): string {
  if (Array.isArray(value)) return canonical([...value].sort());
  if (field !== "output_schema" || typeof value !== "string") return canonical(value ?? null);
  try {
    return canonical(JSON.parse(value));
  } catch {
    return value; // somebody is still writing it
  }
}

/** The form after others have saved: their changes are in it, and its own stay. */
export function mergedForm<Mine extends Partial<Record<Field, unknown>>>({
  before,
  mine,
  theirs,
}: {
  before: Values;
  mine: Mine;
  theirs: Values;
}): { values: Mine } & Pick<Meanwhile, "taken" | "clashes"> {
  const isSame = (field: Field, one: Partial<Record<Field, unknown>>, other: Partial<Record<Field, unknown>>) =>
    meaningOf(field, one[field]) === meaningOf(field, other[field]);
  const changed = (Object.keys(theirs) as Field[]).filter((field) => !isSame(field, before, theirs)); // cast: an object of ours
  const taken = changed.filter((field) => isSame(field, before, mine));
  const clashes = changed.filter((field) => !taken.includes(field) && !isSame(field, mine, theirs));
  return { values: { ...mine, ...Object.fromEntries(taken.map((field) => [field, theirs[field]])) }, taken, clashes };
}

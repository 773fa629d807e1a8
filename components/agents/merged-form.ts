import type { formValues } from "#components/agents/agent-form-schema.ts";

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

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

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
  const changed = (Object.keys(theirs) as Field[]).filter((field) => !isSame(before[field], theirs[field])); // cast: an object of ours
  const taken = changed.filter((field) => isSame(before[field], mine[field]));
  const clashes = changed.filter((field) => !taken.includes(field) && !isSame(mine[field], theirs[field]));
  return { values: { ...mine, ...Object.fromEntries(taken.map((field) => [field, theirs[field]])) }, taken, clashes };
}

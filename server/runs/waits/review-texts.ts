import type { Prisma } from "#prisma/generated/client.ts";
import { pool } from "#server/platform/db/client.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

/** The columns that a run fills with text of any length, to be left out wherever many reviews are read. */
export const longTexts = { title: true, description: true, display_value: true } as const satisfies Prisma.WaitOmit;

interface Texts {
  title: string;
  description: string;
  display_value: string;
  /** One of them is longer. */
  truncated: boolean;
}

const columns = Object.keys(longTexts);
// The database counts whole characters, so no emoji is halved, and it unpacks no more of a stored text than that.
const beginning = (column: string) => `left(${column}, ${PREVIEW_CHARACTERS}) AS ${column}`;
const isLonger = (column: string) => `length(left(${column}, ${PREVIEW_CHARACTERS} + 1)) > ${PREVIEW_CHARACTERS}`;
const BEGINNINGS = `
  SELECT id, ${columns.map(beginning).join(", ")}, ${columns.map(isLonger).join(" OR ")} AS truncated
  FROM waits WHERE id = ANY($1::uuid[])`;

/**
 * What reviews ask, each text cut by the database to what a list shows.
 * @param ids reviews that the caller may see
 */
export async function textBeginnings(ids: readonly string[]): Promise<Map<string, Texts>> {
  if (!ids.length) return new Map();
  const { rows } = await pool().query<Texts & { id: string }>(BEGINNINGS, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

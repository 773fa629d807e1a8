import type pg from "pg";
import { v7 as uuid } from "uuid";
import type { Role } from "#server/shared/primitives-schema.ts";

// What people answer to reviews at which several must agree, and the text of a review that somebody changes.

/** By what a vote is known: each address counts once, with an account or without. */
export const voterOf = ({ email }: { email: string }): string => email.toLowerCase();

interface VoteWrite {
  /** See `voterOf`. A key of a service account votes for the person who made it. */
  voter: string;
  choice: string;
  comment: string | null;
  /** The text that flows on, as this person wants it; undefined leaves it. */
  text: string | undefined;
  by: { id: string | null; email: string; name: string; role: Role | null; via: string };
}

/**
 * Keeps one person's answer, within a transaction: another one replaces it, and a changed text takes back what others have said,
 * since they meant another one. Answers to a review come one after the other.
 * @returns how many have made the same choice, and whether this answer is new; undefined when the review does not wait any more
 */
export async function castVote(
  on: Pick<pg.ClientBase, "query">,
  { id, execution_id }: { id: string; execution_id: string },
  { voter, choice, comment, text, by }: VoteWrite,
): Promise<{ agreeing: number; isNew: boolean } | undefined> {
  // The run's row first, as whoever resolves a wait locks them.
  await on.query("SELECT FROM executions WHERE id = $1 FOR UPDATE", [execution_id]);
  const open = await on.query<{ text: string | null }>("SELECT text FROM waits WHERE id = $1 AND status = 'waiting' FOR UPDATE", [id]);
  if (!open.rows[0]) return undefined;
  if (text !== undefined && text !== open.rows[0].text) {
    await changeText(on, id, text);
    await on.query("DELETE FROM review_votes WHERE wait_id = $1", [id]);
  }
  const kept = await on.query(
    `INSERT INTO review_votes AS v (id, wait_id, voter, choice, comment, via, user_id, email, name, role)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::"Role")
     ON CONFLICT (wait_id, voter) DO UPDATE SET choice = excluded.choice, comment = excluded.comment, via = excluded.via,
       user_id = excluded.user_id, email = excluded.email, name = excluded.name, role = excluded.role, created_at = now()
     WHERE v.choice <> excluded.choice`,
    [uuid(), id, voter, choice, comment, by.via, by.id, by.email, by.name, by.role],
  );
  const counted = await on.query<{ count: number }>("SELECT count(*)::int AS count FROM review_votes WHERE wait_id = $1 AND choice = $2", [
    id,
    choice,
  ]);
  return { agreeing: counted.rows[0]?.count ?? 0, isNew: kept.rowCount === 1 };
}

/** Changes the text of a review, within the transaction that holds its row. */
export async function changeText(on: Pick<pg.ClientBase, "query">, review_id: string, text: string): Promise<void> {
  await on.query("UPDATE waits SET text = $2, text_hash = NULL WHERE id = $1", [review_id, text]);
}

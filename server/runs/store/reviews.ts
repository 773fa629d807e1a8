import type { Prisma } from "#prisma/generated/client.ts";
import type { WaitReason } from "#prisma/generated/enums.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sql } from "#server/platform/db/sql.ts";
import { finds } from "#server/platform/db/sweep.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { readable, readableBytes, storedText } from "#server/runs/store/texts.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

// Waits for people, as they are looked at. How one ends: waits.ts.

/** The columns that a run fills with text of any length, to be left out wherever many reviews are read. */
export const longTexts = { title: true, description: true, display_value: true, text: true } as const satisfies Prisma.WaitOmit;

/** What a review reads beside its own row. */
const withWorkflow = {
  execution: { select: { workflow_id: true, status: true, started_by_id: true, workflow: { select: { name: true } } } },
  votes: { orderBy: { created_at: "asc" } },
} as const satisfies Prisma.WaitInclude;

/** Waits that people decide: of review nodes, and for budgets. */
const ASK_PEOPLE: WaitReason[] = ["review", "budget"];

/** A review with its workflow. */
export type ReviewRow = Prisma.WaitGetPayload<{ include: typeof withWorkflow }>;
/** The same without its long texts. */
export type ShortReviewRow = Prisma.WaitGetPayload<{ include: typeof withWorkflow; omit: typeof longTexts }>;

const reviews = (where: Prisma.WaitWhereInput) => ({ where: { ...where, reason: { in: ASK_PEOPLE } }, include: withWorkflow }) as const;

const columns = Object.keys(longTexts) as (keyof typeof longTexts)[]; // cast: its keys
const sizeOf = (column: string) => `coalesce(octet_length(${column}), 0)`;
const TEXTS = `
  SELECT ${columns
    .map((column, index) => {
      const sum = columns
        .slice(0, index + 1)
        .map(sizeOf)
        .join(" + ");
      return `CASE WHEN ${readable(sizeOf(column), sum, "$2")} THEN ${column} END AS ${column}, ${column} IS NOT NULL AS has_${column}`;
    })
    .join(", ")}
  FROM waits WHERE id = $1`;

/** Texts of a review that may be in `run_texts` too. */
const HASHED: ReadonlySet<string> = new Set(["display_value", "text"]);

const textOfReview = (column: string, id: string) =>
  storedText({
    name: `review-${column}`,
    execution_id: "execution_id",
    text: column,
    hash: HASHED.has(column) ? `${column}_hash` : "NULL::text",
    from: sql`waits WHERE id = ${id}::uuid`,
  });

/** One review, with all that it asks. @param texts takes the long texts out */
export async function findReview(where: Prisma.WaitWhereInput & { id: string }, texts?: DeferredTexts): Promise<ReviewRow | null> {
  const row = await db().wait.findFirst({ ...reviews(where), omit: longTexts });
  const values = [where.id, readableBytes(texts)];
  const { rows } = await pool().query<Record<string, string | null>>({ name: "review-texts", text: TEXTS, values });
  const [found] = rows;
  if (!row || !found) return null;
  const textOf = (column: string) => {
    if (!found[`has_${column}`]) return null;
    return found[column] ?? texts?.defer(textOfReview(column, row.id)) ?? "";
  };
  const { title, description, display_value, text } = Object.fromEntries(columns.map((column) => [column, textOf(column)]));
  return { ...row, title: title ?? "", description: description ?? "", display_value: display_value ?? "", text: text ?? null };
}

/** What says who is asked by a review and who has answered. */
export type Asking = Pick<ReviewRow, "project_id" | "terms" | "votes"> & { execution: { started_by_id: string | null } };

/**
 * The same of one review.
 * @throws Error when there is none
 */
export async function askingOf(within: Pick<Prisma.TransactionClient, "wait" | "reviewVote">, id: string): Promise<Asking> {
  const execution = { select: { started_by_id: true } };
  // One after the other: a transaction has one connection, and two relations would be asked for at once.
  const wait = await within.wait.findUniqueOrThrow({ where: { id }, select: { project_id: true, terms: true, execution } });
  return { ...wait, votes: await within.reviewVote.findMany({ where: { wait_id: id } }) };
}

/** Some reviews. */
export const findReviews = (
  where: Prisma.WaitWhereInput,
  how: Pick<Prisma.WaitFindManyArgs, "orderBy" | "take" | "skip">,
): Promise<ShortReviewRow[]> => db().wait.findMany({ ...reviews(where), omit: longTexts, ...how });

/** How many reviews there are. */
export const countReviews = (where: Prisma.WaitWhereInput): Promise<number> => db().wait.count({ where: reviews(where).where });

/**
 * To which ways out of their nodes something is attached, by the graph that their runs run.
 * @param ids reviews that the caller may see
 * @returns names of handles by the review's id
 */
export async function attachedHandles(ids: readonly string[]): Promise<Map<string, readonly string[]>> {
  if (!ids.length) return new Map();
  const { rows } = await pool().query<{ id: string; handles: string[] }>(
    `SELECT w.id, ARRAY(
       SELECT edge->>'sourceHandle' FROM jsonb_array_elements(s.graph->'edges') AS edge
       WHERE edge->>'source' = w.node_id AND edge->>'sourceHandle' IS NOT NULL) AS handles
     FROM waits w JOIN executions e ON e.id = w.execution_id JOIN workflow_snapshots s ON s.id = e.snapshot_id
     WHERE w.id = ANY($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ id, handles }) => [id, handles]));
}

interface Texts {
  title: string;
  description: string;
  display_value: string;
  text: string | null;
  /** One of them is longer. */
  truncated: boolean;
}

// The database counts whole characters, so no emoji is halved, and it unpacks no more of a stored text than that.
const beginning = (column: string) => `left(${column}, ${PREVIEW_CHARACTERS}) AS ${column}`;
const isLonger = (column: string) => `coalesce(length(left(${column}, ${PREVIEW_CHARACTERS} + 1)), 0) > ${PREVIEW_CHARACTERS}`;
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

/** How many reviews one sweep has people told of. */
const BATCH = 200;

const UNTOLD = `FROM waits
  WHERE reason = 'review' AND status = 'waiting' AND notified_at IS NULL AND created_at < now() - interval '10 seconds'`;

/** Ids of waiting reviews that nobody was told of. */
export async function untoldReviews(): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(`SELECT id ${UNTOLD} ORDER BY created_at LIMIT ${BATCH}`);
  return rows.map(({ id }) => id);
}

/** Most often that people are reminded of a review. */
const MOST_REMINDERS = 3;
/** The reminder with which a review is escalated. */
export const ESCALATES_AT = 2;

const OVERLOOKED = `FROM waits
  WHERE remind_at <= now() AND reason = 'review' AND status = 'waiting' AND (deadline IS NULL OR deadline > now())`;

/** Whether `untoldReviews` or `overlookedReviews` may find any; see `Sweep`. */
export const MAY_BE_UNTOLD = finds(`SELECT ${UNTOLD}`, `SELECT ${OVERLOOKED}`);

/**
 * Takes waiting reviews whose next reminder is due, and the how manyth that is. Nobody else takes them for a minute: what gets lost
 * meanwhile is due again then.
 */
export async function overlookedReviews(): Promise<{ review_id: string; count: number }[]> {
  const { rows } = await pool().query<{ review_id: string; count: number }>(
    `UPDATE waits SET remind_at = now() + interval '1 minute' WHERE id IN (
       SELECT id ${OVERLOOKED} ORDER BY remind_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
     RETURNING id AS review_id, reminded + 1 AS count`,
  );
  return rows;
}

/**
 * Takes note, within a transaction, that people are reminded of a review, and sets the time of the next reminder, if one comes before
 * the deadline. With the second, whom it is escalated to is asked as well, where anybody is named. Its row is locked.
 * @param count the how manyth reminder it is
 * @returns false when it was noted already, or the review does not wait any more
 */
export async function noteReminded(
  within: Pick<Prisma.TransactionClient, "$executeRaw">,
  review_id: string,
  count: number,
): Promise<boolean> {
  const changed = await within.$executeRaw`
    UPDATE waits w SET reminded = ${count}, remind_at = CASE WHEN ${count} < ${MOST_REMINDERS} AND (deadline IS NULL OR next.at < deadline) THEN next.at END,
      terms = CASE WHEN ${count} = ${ESCALATES_AT} AND terms->'escalate_to' <> 'null' AND jsonb_array_length(terms->'assignees') > 0
        THEN jsonb_set(terms, '{assignees}', (terms->'assignees') || jsonb_build_array(terms->'escalate_to')) ELSE terms END
    FROM (SELECT id, now() + make_interval(secs => greatest((terms->>'remind_hours')::float8, 1) * 3600) AS at FROM waits WHERE id = ${review_id}::uuid) AS next
    WHERE w.id = next.id AND w.reason = 'review' AND w.status = 'waiting' AND w.reminded = ${count} - 1
      AND (deadline IS NULL OR deadline > now())`;
  return changed === 1;
}

/**
 * Takes note, within a transaction, that people are told of a review. Its row is locked: a decision that comes now waits.
 * @returns undefined when it does not wait any more
 */
export async function noteTold(
  within: Pick<Prisma.TransactionClient, "$queryRaw">,
  review_id: string,
): Promise<{ project_id: string; execution_id: string; name: string; workflow: string } | undefined> {
  const [review] = await within.$queryRaw<{ project_id: string; execution_id: string; name: string; workflow: string }[]>`
    UPDATE waits w SET notified_at = coalesce(w.notified_at, now()) FROM executions e JOIN workflows f ON f.id = e.workflow_id
    WHERE w.id = ${review_id}::uuid AND w.reason = 'review' AND w.status = 'waiting' AND e.id = w.execution_id
    RETURNING w.project_id, w.execution_id, coalesce(nullif(w.title, ''), w.label) AS name, f.name AS workflow`;
  return review;
}

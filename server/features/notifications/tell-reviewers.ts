import { v7 as uuid } from "uuid";
import { db } from "#server/platform/db/client.ts";
import { shorten } from "#server/platform/mail/layout.ts";

/** A title may hold what a run has worked out, so it may be of any length. */
const TITLE_SHOWN = 200;

/**
 * Tells every member who can decide that a review waits, in the web app. Does nothing for a review that is decided, and
 * tells nobody twice.
 */
export async function tellReviewers(review_id: string): Promise<void> {
  await db().$transaction(async (tx) => {
    // Locks the row: a decision that comes now waits, and marks these as read.
    const [review] = await tx.$queryRaw<{ project_id: string; execution_id: string; name: string; workflow: string }[]>`
      UPDATE waits w SET notified_at = coalesce(w.notified_at, now()) FROM executions e JOIN workflows f ON f.id = e.workflow_id
      WHERE w.id = ${review_id}::uuid AND w.reason = 'review' AND w.status = 'waiting' AND e.id = w.execution_id
      RETURNING w.project_id, w.execution_id, coalesce(nullif(w.title, ''), w.label) AS name, f.name AS workflow`;
    if (!review) return;
    const { project_id, execution_id, name, workflow } = review;
    const members = await tx.membership.findMany({
      where: { project_id, role: { in: ["editor", "admin"] } },
      select: { user_id: true },
    });
    await tx.notification.createMany({
      data: members.map(({ user_id }) => ({
        id: uuid(),
        user_id,
        project_id,
        kind: "review",
        subject_id: review_id,
        title: `${shorten(name.replace(/\s+/g, " "), TITLE_SHOWN)} (${workflow})`,
        link: `/runs/${execution_id}`,
      })),
      skipDuplicates: true,
    });
  });
}

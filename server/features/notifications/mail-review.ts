import { reviewMail } from "#server/features/notifications/review-mail.ts";
import { linkEnd, reviewToken } from "#server/features/reviews/review-token.ts";
import { db } from "#server/platform/db/client.ts";
import { isMailOn, sendMail } from "#server/platform/mail/send-mail.ts";
import { appUrl } from "#server/platform/settings.ts";
import { reviewFields } from "#server/runs/waits/review-dto.ts";

/**
 * Sends the link to a waiting review to the address that its node names. Does nothing without one, without mail settings,
 * and when the review was decided meanwhile.
 * @throws Error when the mail server does not take it; calling again is right
 */
export async function mailReview(review_id: string): Promise<void> {
  if (!isMailOn()) return;
  const row = await db().wait.findUnique({ where: { id: review_id, reason: "review" }, include: reviewFields });
  if (row?.status !== "waiting" || !row.notification_email) return;
  const expires_at = linkEnd(row.deadline);
  await sendMail({
    to: row.notification_email,
    // The same for every try, so that a mail which was sent twice is shown once.
    id: `review-${review_id}`,
    ...reviewMail({
      title: row.title || row.label,
      description: row.description,
      display_value: row.display_value,
      workflow_name: row.execution.workflow.name,
      reference: review_id.slice(-8),
      due_at: row.deadline,
      expires_at,
      url: `${appUrl()}/review/${reviewToken(review_id, expires_at)}`,
    }),
  });
}

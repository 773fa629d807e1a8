import { v7 as uuid } from "uuid";
import { linkEnd, reviewToken } from "#server/features/reviews/link.ts";
import { db } from "#server/platform/db/client.ts";
import { button, page, paragraph, quote, quotedName, shorten, unlinked, utc } from "#server/platform/mail/layout.ts";
import { isMailOn, type MailBody, sendMail } from "#server/platform/mail/send-mail.ts";
import { appUrl } from "#server/platform/settings.ts";
import { findReview, noteTold } from "#server/runs/store/reviews.ts";

/** A title may hold what a run has worked out, so it may be of any length. */
const TITLE_SHOWN = 200;

/**
 * Tells every member who can decide that a review waits, in the web app. Does nothing for a review that is decided, and
 * tells nobody twice.
 */
export async function tellReviewers(review_id: string): Promise<void> {
  await db().$transaction(async (tx) => {
    const review = await noteTold(tx, review_id);
    if (!review) return;
    const { project_id, execution_id, name, workflow } = review;
    const members = await tx.membership.findMany({
      where: { project_id, role: { not: "viewer" } },
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

/**
 * Sends the link to a waiting review to the address that its node names. Does nothing without one, without mail settings,
 * and when the review was decided meanwhile.
 * @throws Error when the mail server does not take it; calling again is right
 */
export async function mailReview(review_id: string): Promise<void> {
  if (!isMailOn()) return;
  const row = await findReview({ id: review_id });
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

// Longer texts are cut in the mail; the page behind the link shows all of them.
const SHOWN = 4000;
const LINE = "-".repeat(40);

interface ReviewMail {
  title: string;
  description: string;
  display_value: string;
  workflow_name: string;
  /** Tells this mail's subject from those of others. */
  reference: string;
  /** When it counts as rejected; null waits for ever. */
  due_at: Date | null;
  /** When the link ends. */
  expires_at: Date;
  url: string;
}

/** Asks for a decision. The link only shows; deciding takes a click on the page behind it. */
export function reviewMail({ workflow_name, reference, due_at, expires_at, url, ...asked }: ReviewMail): MailBody {
  const title = "A run waits for your decision";
  const [description, content] = [unlinked(shorten(asked.description, SHOWN)), unlinked(shorten(asked.display_value, SHOWN))];
  const asks = `The workflow ${quotedName(workflow_name)} asks: ${quotedName(asked.title)}`;
  const until = due_at
    ? `Without a decision by ${utc(due_at)} it counts as rejected.`
    : `The run waits until somebody decides. This link works until ${utc(expires_at)}.`;
  const warning = "Whoever has this link can decide, so do not pass it on.";
  const foreign = [description, content].filter((part) => part.trim());
  return {
    subject: `A run on Treadle waits for your decision (${reference})`,
    // Where it begins and ends can be seen, so that nothing in it passes for ours.
    text: [title, asks, ...(foreign.length ? [LINE, ...foreign, LINE] : []), `Look at it and decide:\n${url}`, until, warning].join("\n\n"),
    html: page(title, [paragraph(asks), ...foreign.map(quote), button("Look at it and decide", url), paragraph(`${until} ${warning}`)]),
  };
}

import type { Prisma } from "#prisma/generated/client.ts";
import { notify } from "#server/features/notifications/notify.ts";
import { wasRemoved } from "#server/features/projects/removed-members.ts";
import { linkEnd, reviewToken } from "#server/features/reviews/link.ts";
import { reviewMail, summaryMail } from "#server/features/reviews/mail.ts";
import { isAsked, isMeant, mayDecide, startersOf, termsOf } from "#server/features/reviews/rights.ts";
import { db } from "#server/platform/db/client.ts";
import type { MailFooter } from "#server/platform/mail/layout.ts";
import { queueEmails, type TakenEmail } from "#server/platform/mail/outbox.ts";
import type { Recipient } from "#server/platform/mail/recipients.ts";
import { isMailOn, type MailBody } from "#server/platform/mail/send-mail.ts";
import { appUrl } from "#server/platform/settings.ts";
import { voterOf } from "#server/runs/store/review-votes.ts";
import {
  type Asking,
  askingOf,
  countReviews,
  ESCALATES_AT,
  findReview,
  findReviews,
  noteReminded,
  noteTold,
  type ReviewRow,
  textBeginnings,
} from "#server/runs/store/reviews.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { shorten } from "#server/shared/shorten.ts";
import type { ReviewTerms } from "#server/workflow/nodes/review-terms.ts";

/** A title may hold what a run has worked out, so it may be of any length. */
const TITLE_SHOWN = 200;
/** Most people who get a mail about one review. */
const MOST_MAILS = 50;

interface Person {
  id: string;
  email: string;
  name: string;
  role: Role;
}

/** Members who may decide a review and have not answered it. */
async function stillAsked(
  within: Pick<Prisma.TransactionClient, "membership" | "serviceKeyMaker">,
  { project_id, terms, votes, execution }: Asking,
): Promise<Person[]> {
  const members = await within.membership.findMany({
    where: { project_id, role: { not: "viewer" }, user: { service_project_id: null } },
    select: { role: true, user: { select: { id: true, email: true, name: true } } },
    orderBy: { user_id: "asc" },
  });
  const answered = new Set(votes.map(({ voter }) => voter));
  const starters = (await startersOf([execution.started_by_id], within))(execution.started_by_id);
  return members
    .filter((member) => mayDecide(termsOf({ terms }), starters, { ...member, counted: member.user }) && !answered.has(voterOf(member.user)))
    .map(({ role, user }) => ({ ...user, role }));
}

/** Tells those who are asked and have not answered, in the web app. Nobody, of a review that does not wait any more. */
async function notifyAsked(tx: Prisma.TransactionClient, review_id: string, isReminder = false): Promise<void> {
  const told = await noteTold(tx, review_id);
  if (!told) return;
  const { project_id, execution_id, name, workflow } = told;
  const asking = await askingOf(tx, review_id);
  const terms = termsOf(asking);
  const people = await stillAsked(tx, asking);
  // What they were told before has been read or overlooked: a reminder stands above what came since.
  const user_id = { in: people.map(({ id }) => id) };
  if (isReminder) await tx.notification.deleteMany({ where: { kind: "review", subject_id: review_id, user_id } });

  // An assignee gets an email with a personal link, so none about the notification.
  const isMailed = (person: Person) => isMailOn() && terms.assignees.length > 0 && isAsked(terms, person);
  const users = people.map((person) => ({ user_id: person.id, mail_asked_at: isMailed(person) ? new Date() : null }));
  const title = `${isReminder ? "Reminder: " : ""}${shorten(name.replace(/\s+/g, " "), TITLE_SHOWN)} (${workflow})`;
  await notify(tx, users, { project_id, kind: "review", subject_id: review_id, title, link: `/runs/${execution_id}` });
}

/**
 * Tells every member who is asked that a review waits, in the web app. Does nothing for a review that is decided, and tells
 * nobody twice.
 */
export async function tellReviewers(review_id: string): Promise<void> {
  await db().$transaction((tx) => notifyAsked(tx, review_id));
}

/**
 * Tells those who have not decided a review again, in the web app, and with the second reminder whom it is escalated to. Does nothing
 * when that was done already.
 * @param count the how manyth reminder it is
 */
export async function remindReviewers({ review_id, count }: { review_id: string; count: number }): Promise<void> {
  await db().$transaction(async (tx) => {
    if (await noteReminded(tx, review_id, count)) await notifyAsked(tx, review_id, true);
  });
}

/** Who gets a link to a review by mail: whoever is named, and of members only those who still have to answer. */
async function mailed(row: ReviewRow, count: number): Promise<{ to: string; user_id?: string }[]> {
  const terms = termsOf(row);
  const isMailed = (person: Person) =>
    (terms.assignees.length > 0 && isAsked(terms, person)) || (isEscalated(terms, count) && isMeant(person, terms.escalate_to));
  const members = await stillAsked(db(), row);
  const people = members.filter(isMailed).slice(0, MOST_MAILS);
  const email = row.notification_email?.toLowerCase();
  const isLeftOut = email ? row.votes.some((vote) => vote.voter === email) || (await wasRemoved(row.project_id, email)) : true;
  return [
    ...(row.notification_email && !isLeftOut && !people.some((person) => person.email === email) ? [{ to: row.notification_email }] : []),
    ...people.map(({ id, email }) => ({ to: email, user_id: id })),
  ];
}

const isEscalated = (terms: ReviewTerms, count: number): terms is ReviewTerms & { escalate_to: NonNullable<ReviewTerms["escalate_to"]> } =>
  terms.escalate_to !== null && count >= ESCALATES_AT;

/**
 * Queues links to a waiting review: to the address that its node names, and to each member whom it names a link of their own. Does
 * nothing without mail settings, and when the review was decided meanwhile. Calling again queues nothing twice.
 * @param count the how manyth reminder it is; 0 for the first mail
 */
export async function mailReview(review_id: string, count = 0): Promise<void> {
  if (!isMailOn()) return;
  const row = await findReview({ id: review_id });
  if (row?.status !== "waiting") return;
  const { project_id } = row;
  await queueEmails(
    (await mailed(row, count)).map(({ to, user_id }) => ({
      message_id: ["review", review_id, ...(user_id ? [user_id] : []), ...(count > 0 ? [count] : [])].join("-"),
      ...{ project_id, address: to, kind: "review" as const, subject_id: review_id, user_id, count },
    })),
  );
}

/** Text of an email that was queued for a review. @returns null when the review no longer waits, or not for this address */
export async function reviewEmail(email: TakenEmail, footer: MailFooter): Promise<MailBody | null> {
  const { subject_id, count } = email;
  const row = subject_id === null ? null : await findReview({ id: subject_id });
  if (row?.status !== "waiting") return null;
  const user_id = email.user_id ?? undefined;
  const isAddressed = (await mailed(row, count)).some((one) => one.to.toLowerCase() === email.address && one.user_id === user_id);
  if (!isAddressed) return null;
  const expires_at = linkEnd(row.deadline);
  return reviewMail({
    project_id: row.project_id,
    title: row.title || row.label,
    description: row.description,
    display_value: row.display_value,
    text: row.text ?? "",
    workflow_name: row.execution.workflow.name,
    reference: row.id.slice(-8),
    is_reminder: count > 0,
    due_at: row.deadline,
    expires_at,
    url: `${appUrl()}/review/${reviewToken(row.id, expires_at, user_id)}`,
    footer,
  });
}

/** Reviews that one summary lists. */
const MOST_LISTED = 40;

/** Summary of the emails to an address that were held back. @returns null when there are none */
export async function summaryEmail(recipient: Recipient, footer: MailFooter): Promise<MailBody | null> {
  const { project_id, project_name, address, held, is_member } = recipient;
  if (held === 0) return null;
  const asked: Prisma.WaitWhereInput = {
    ...{ project_id, status: "waiting", reason: "review" },
    notification_email: { equals: address, mode: "insensitive" },
    votes: { none: { voter: address } },
  };
  const isLeftOut = await wasRemoved(project_id, address);
  const [waiting, rows] = isLeftOut
    ? [0, []]
    : await Promise.all([countReviews(asked), findReviews(asked, { orderBy: { id: "asc" }, take: MOST_LISTED })]);
  const texts = await textBeginnings(rows.map(({ id }) => id));
  const reviews = rows.map(({ id, label, deadline, execution }) => ({
    title: texts.get(id)?.title || label,
    workflow_name: execution.workflow.name,
    url: `${appUrl()}/review/${reviewToken(id, linkEnd(deadline))}`,
  }));
  return summaryMail({ project_name, held, reviews, waiting, app_url: is_member ? `${appUrl()}/approvals` : null, footer });
}

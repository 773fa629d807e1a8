import {
  button,
  footerHtml,
  footerText,
  type MailFooter,
  page,
  paragraph,
  quotedLines,
  quotedName,
  utc,
} from "#server/platform/mail/layout.ts";
import { quotedMarkdown } from "#server/platform/mail/markdown.ts";
import type { MailBody } from "#server/platform/mail/send-mail.ts";
import { shorten } from "#server/shared/shorten.ts";

// Longer texts are cut in the mail; the page behind the link shows all of them.
const SHOWN = 4000;

interface ReviewMail {
  project_id: string;
  title: string;
  /** Markdown, as are the next two. */
  description: string;
  display_value: string;
  /** The text that flows on; empty where there is none. */
  text?: string;
  workflow_name: string;
  /** Tells this mail's subject from those of others. */
  reference: string;
  is_reminder?: boolean;
  /** When it counts as rejected; null waits for ever. */
  due_at: Date | null;
  /** When the link ends. */
  expires_at: Date;
  url: string;
  footer?: MailFooter;
}

/** Asks for a decision. The link only shows; deciding takes a click on the page behind it. */
export async function reviewMail(mail: ReviewMail): Promise<MailBody> {
  const { workflow_name, reference, is_reminder = false, due_at, expires_at, url, footer } = mail;
  const title = is_reminder ? "A run still waits for your decision" : "A run waits for your decision";
  const foreign = [mail.description, mail.display_value, mail.text ?? ""].map((part) => shorten(part, SHOWN)).filter((part) => part.trim());
  const asks = `The workflow ${quotedName(workflow_name)} asks: ${quotedName(mail.title)}`;
  const until = due_at
    ? `Without a decision by ${utc(due_at)} it counts as rejected.`
    : `The run waits for a decision. This link works until ${utc(expires_at)}.`;
  const warning = "Anyone with this link can decide, so do not forward it.";
  return {
    subject: is_reminder
      ? `Reminder: a run on Treadle waits for your decision (${reference})`
      : `A run on Treadle waits for your decision (${reference})`,
    text: [
      title,
      asks,
      ...foreign.map(quotedLines),
      `Look at it and decide:\n${url}`,
      until,
      warning,
      ...(footer ? [footerText(footer)] : []),
    ].join("\n\n"),
    html: page(title, [
      paragraph(asks),
      ...(await quotedMarkdown(mail.project_id, foreign)),
      button("Look at it and decide", url),
      paragraph(`${until} ${warning}`),
      ...(footer ? [footerHtml(footer)] : []),
    ]),
  };
}

/** A review that a summary lists. */
interface ListedReview {
  title: string;
  workflow_name: string;
  url: string;
}

interface SummaryMail {
  project_name: string;
  /** Emails that were not sent. */
  held: number;
  reviews: readonly ListedReview[];
  /** Number of reviews that wait in all. */
  waiting: number;
  /** Page that lists all waiting reviews; null for an address outside the project. */
  app_url: string | null;
  footer: MailFooter;
}

/** Stands for emails that were held back, and leads to the reviews that still wait. */
export function summaryMail({ project_name, held, reviews, waiting, app_url, footer }: SummaryMail): MailBody {
  const title = held === 1 ? "An email was held back" : `${held} emails were held back`;
  const why = `The project ${quotedName(project_name)} had more for you than this service sends in an hour, or before an address is confirmed. This email stands for ${held === 1 ? "it" : "them"}.`;
  const count = waiting === 1 ? "One review waits for your decision." : `${waiting} reviews wait for your decision.`;
  const more = waiting > reviews.length ? [`${waiting - reviews.length} of them are not listed: ask a member of the project.`] : [];
  const warning = "Anyone with these links can decide, so do not pass them on.";
  const asks = reviews.map(({ title: asked, workflow_name }) => `${quotedName(workflow_name)} asks: ${quotedName(asked)}`);
  return {
    subject: held === 1 ? "An email of a project on Treadle was held back" : `${held} emails of a project on Treadle were held back`,
    text: [
      title,
      why,
      ...(reviews.length ? [count, ...reviews.map(({ url }, index) => `${asks[index]}\n${url}`), ...more, warning] : []),
      ...(app_url ? [`What waits in the project:\n${app_url}`] : []),
      footerText(footer),
    ].join("\n\n"),
    html: page(title, [
      paragraph(why),
      ...(reviews.length ? [paragraph(count)] : []),
      ...reviews.flatMap(({ url }, index) => [paragraph(asks[index] ?? ""), button("Look at it and decide", url)]),
      ...(reviews.length ? [paragraph([...more, warning].join(" "))] : []),
      ...(app_url ? [button("See what waits in the project", app_url)] : []),
      footerHtml(footer),
    ]),
  };
}

import { button, page, paragraph, quotedName, shorten, unlinked, utc } from "#server/platform/mail/layout.ts";
import { quotedMarkdown } from "#server/platform/mail/markdown.ts";
import type { MailBody } from "#server/platform/mail/send-mail.ts";

// Longer texts are cut in the mail; the page behind the link shows all of them.
const SHOWN = 4000;
const LINE = "-".repeat(40);

interface ReviewMail {
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
}

/** Asks for a decision. The link only shows; deciding takes a click on the page behind it. */
export async function reviewMail(mail: ReviewMail): Promise<MailBody> {
  const { workflow_name, reference, is_reminder = false, due_at, expires_at, url } = mail;
  const title = is_reminder ? "A run still waits for your decision" : "A run waits for your decision";
  const foreign = [mail.description, mail.display_value, mail.text ?? ""].map((part) => shorten(part, SHOWN)).filter((part) => part.trim());
  const asks = `The workflow ${quotedName(workflow_name)} asks: ${quotedName(mail.title)}`;
  const until = due_at
    ? `Without a decision by ${utc(due_at)} it counts as rejected.`
    : `The run waits until somebody decides. This link works until ${utc(expires_at)}.`;
  const warning = "Whoever has this link can decide, so do not pass it on.";
  return {
    subject: is_reminder
      ? `Reminder: a run on Treadle waits for your decision (${reference})`
      : `A run on Treadle waits for your decision (${reference})`,
    // Where it begins and ends can be seen, so that nothing in it passes for ours.
    text: [
      title,
      asks,
      ...(foreign.length ? [LINE, ...foreign.map(unlinked), LINE] : []),
      `Look at it and decide:\n${url}`,
      until,
      warning,
    ].join("\n\n"),
    html: page(title, [
      paragraph(asks),
      ...(await Promise.all(foreign.map(quotedMarkdown))),
      button("Look at it and decide", url),
      paragraph(`${until} ${warning}`),
    ]),
  };
}

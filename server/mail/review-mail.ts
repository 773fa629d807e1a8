import { button, page, paragraph, quote, shorten, utc } from "#server/mail/layout.ts";
import type { MailBody } from "#server/mail/send-mail.ts";

// Longer texts are cut in the mail; the page behind the link shows all of them.
const SHOWN = 4000;
const TITLE_SHOWN = 200;

interface ReviewMail {
  title: string;
  description: string;
  display_value: string;
  workflow_name: string;
  /** When it counts as rejected; null waits for ever. */
  due_at: Date | null;
  /** When the link ends. */
  expires_at: Date;
  url: string;
}

/** Asks for a decision. The link only shows; deciding takes a click on the page behind it. */
export function reviewMail({ workflow_name, due_at, expires_at, url, ...asked }: ReviewMail): MailBody {
  const title = shorten(asked.title, TITLE_SHOWN);
  const [description, content] = [shorten(asked.description, SHOWN), shorten(asked.display_value, SHOWN)];
  const asks = `A run of the workflow “${workflow_name}” waits for your decision.`;
  const until = due_at
    ? `Without a decision by ${utc(due_at)} it counts as rejected.`
    : `The run waits until somebody decides. This link works until ${utc(expires_at)}.`;
  const warning = "Whoever has this link can decide, so do not pass it on.";
  return {
    subject: `Review: ${title}`,
    text: [title, asks, description, content, `Look at it and decide:\n${url}`, until, warning].filter((part) => part.trim()).join("\n\n"),
    html: page(title, [
      paragraph(asks),
      description.trim() && paragraph(description),
      content.trim() && quote(content),
      button("Look at it and decide", url),
      paragraph(`${until} ${warning}`),
    ]),
  };
}

import { quotedName, unlinked } from "#server/platform/mail/foreign-text.ts";
import { button, page, paragraph, quote, shorten, utc } from "#server/platform/mail/layout.ts";
import type { MailBody } from "#server/platform/mail/send-mail.ts";

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

import { randomUUID } from "node:crypto";
import { log } from "#server/platform/log.ts";
import { button, page, paragraph } from "#server/platform/mail/layout.ts";
import { queueAccountEmail } from "#server/platform/mail/outbox.ts";

interface AccountMail {
  subject: string;
  title: string;
  paragraphs: string[];
  /** What it leads to. */
  link?: { label: string; url: string; expires_at: Date };
}

/** Writes to the address of an account about the account itself, where a mail server is set. Nobody waits for it. */
export function mailAccount(address: string, { subject, title, paragraphs, link }: AccountMail): void {
  const text = [title, ...(link ? [`${link.label}:\n${link.url}`] : []), ...paragraphs].join("\n\n");
  const html = page(title, [...(link ? [button(link.label, link.url)] : []), ...paragraphs.map(paragraph)]);
  const until = link && { expires_at: link.expires_at };
  queueAccountEmail({ message_id: `account-${randomUUID()}`, address, subject, text, html, ...until }).catch((error: unknown) =>
    log.warn({ err: error }, "a mail about an account could not be queued"),
  );
}

import { randomUUID } from "node:crypto";
import { log } from "#server/platform/log.ts";
import { button, page, paragraph } from "#server/platform/mail/layout.ts";
import { isMailOn, sendMail } from "#server/platform/mail/send-mail.ts";

interface AccountMail {
  subject: string;
  title: string;
  paragraphs: string[];
  /** What it leads to. */
  link?: { label: string; url: string };
}

/** Writes to the address of an account about the account itself, where a mail server is set. Nobody waits for it. */
export function mailAccount(to: string, { subject, title, paragraphs, link }: AccountMail): void {
  if (!isMailOn()) return;
  const text = [title, ...(link ? [`${link.label}:\n${link.url}`] : []), ...paragraphs].join("\n\n");
  const html = page(title, [...(link ? [button(link.label, link.url)] : []), ...paragraphs.map(paragraph)]);
  sendMail({ to, id: `account-${randomUUID()}`, subject, text, html }).catch((error: unknown) =>
    log.warn({ err: error }, "a mail about an account could not be sent"),
  );
}

import { appUrl, settings } from "#server/platform/settings.ts";

/** A mail as the templates make it. */
export interface MailBody {
  subject: string;
  text: string;
  html: string;
}

/** A server that does not answer is given up after this time, in milliseconds. */
const TIMEOUT_MS = 15_000;

/** True when a mail server and a sender are set. */
export const isMailOn = (): boolean => Boolean(settings().SMTP_URL && settings().EMAIL_FROM);

/**
 * Sends one mail to one address, through the server of SMTP_URL.
 * @param id tells mails apart: two with the same one are one mail to the reader's program
 * @throws Error when the server cannot be reached or does not take it
 */
export async function sendMail({ to, id, subject, text, html }: MailBody & { to: string; id: string }): Promise<void> {
  const { SMTP_URL, EMAIL_FROM } = settings();
  if (!SMTP_URL || !EMAIL_FROM) throw new Error("No mail can be sent: SMTP_URL and EMAIL_FROM are not set.");
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const { createTransport } = await import("nodemailer"); // most installs send no mail
  const transport = createTransport({ url: SMTP_URL, disableFileAccess: true, disableUrlAccess: true, ...timeouts });
  try {
    await transport.sendMail({
      from: EMAIL_FROM,
      // As an object it is one address, whatever stands in it.
      to: { name: "", address: to },
      subject: subject.replace(/\s+/g, " ").trim(),
      text,
      html,
      messageId: `<${id}@${new URL(appUrl()).hostname}>`,
      headers: { "Auto-Submitted": "auto-generated" },
    });
  } finally {
    transport.close();
  }
}

import { messageOf } from "#server/platform/errors.ts";
import { appUrl, settings } from "#server/platform/settings.ts";
import { shorten } from "#server/shared/shorten.ts";

/** A mail as the templates make it. */
export interface MailBody {
  subject: string;
  text: string;
  html: string;
}

/** A mail as the server is given it. */
interface OutgoingMail extends MailBody {
  to: string;
  /** Its Message-ID before the @. Mail programs show two mails with the same one once. */
  message_id: string;
  /** Address that stops mails of this kind: by GET a page, by POST without a session at once (RFC 8058). */
  unsubscribe_url?: string;
}

/** Time for one step of a connection, and for one mail as a whole, in milliseconds. */
const TIMEOUT_MS = 15_000;
const MAIL_MS = 60_000;

/** True when a mail server and a sender are set. */
export const isMailOn = (): boolean => Boolean(settings().SMTP_URL && settings().EMAIL_FROM);

/** Connections to the mail server. */
export interface MailConnections {
  /**
   * Hands one mail to the server.
   * @throws Error when the server cannot be reached or refuses it
   */
  send(mail: OutgoingMail): Promise<void>;
  /** Closes the connections. A mail under way fails. */
  close(): void;
}

/**
 * Opens connections to the server of SMTP_URL, with the first mail.
 * @param most connections at once
 * @throws Error without SMTP_URL and EMAIL_FROM
 */
export async function openMailConnections(most: number): Promise<MailConnections> {
  const { SMTP_URL, EMAIL_FROM } = settings();
  if (!SMTP_URL || !EMAIL_FROM) throw new Error("No mail can be sent: SMTP_URL and EMAIL_FROM are not set.");
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const { createTransport } = await import("nodemailer"); // most installs send no mail
  const options = { pool: true as const, maxConnections: most, disableFileAccess: true, disableUrlAccess: true };
  const transport = createTransport({ url: SMTP_URL, ...options, ...timeouts });
  return {
    async send({ to, message_id, subject, text, html, unsubscribe_url }) {
      const sending = transport.sendMail({
        from: EMAIL_FROM,
        // As an object it is one address, whatever stands in it.
        to: { name: "", address: to },
        subject: subject.replace(/\s+/g, " ").trim(),
        text,
        html,
        messageId: `<${message_id}@${new URL(appUrl()).hostname}>`,
        headers: {
          "Auto-Submitted": "auto-generated",
          ...(unsubscribe_url && { "List-Unsubscribe": `<${unsubscribe_url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
        },
      });
      // A server that sends a byte now and then keeps within the time of every step.
      const { promise: tooLate, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        reject(new Error(`The mail server did not take a mail within ${MAIL_MS / 1000} seconds.`));
        transport.close();
      }, MAIL_MS);
      await Promise.race([sending, tooLate]).finally(() => clearTimeout(timer));
    },
    close: () => transport.close(),
  };
}

/** A failure to send, sorted by what to do. */
export interface MailFailure {
  /**
   * `server`: it cannot be reached, or takes no mail of this install. `later`: it refuses this mail for now (4xx).
   * `never`: it refuses this mail for good (5xx).
   */
  kind: "server" | "later" | "never";
  /** For the people who look after the install: without user and password. */
  message: string;
}

const ERROR_SHOWN = 300;
/** Codes of nodemailer for answers to one mail, and the commands whose answer is about the recipient or the content. */
const OF_ONE_MAIL = ["EENVELOPE", "EMESSAGE"];
const OF_RECIPIENT = ["RCPT TO", "DATA"];

/** Sorts what `send` has thrown. */
export function mailFailure(error: unknown): MailFailure {
  const { code = "", command = "", responseCode = 0 } = Object(error) as { code?: string; command?: string; responseCode?: number };
  const message = shorten(withoutSecrets(messageOf(error)).replace(/\s+/g, " "), ERROR_SHOWN);
  const isClosing = responseCode === 421;
  if (isClosing || !OF_ONE_MAIL.includes(code)) return { kind: "server", message };
  // Refused before the server was asked, such as an address that SMTP cannot carry.
  if (responseCode === 0) return { kind: command === "API" ? "never" : "server", message };
  if (responseCode < 500) return { kind: "later", message };
  return { kind: OF_RECIPIENT.includes(command) ? "never" : "server", message };
}

/** Takes user and password of SMTP_URL out of a message, which may repeat what was sent. */
function withoutSecrets(message: string): string {
  const { username = "", password = "" } = URL.parse(settings().SMTP_URL ?? "") ?? {};
  const secrets = [username, password].flatMap((part) => {
    const plain = decoded(part);
    return [part, plain, Buffer.from(plain).toString("base64")];
  });
  return secrets.filter((secret) => secret.length > 2).reduce((text, secret) => text.replaceAll(secret, "••••"), message);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

// A mail server for tests: a real SMTP listener that keeps what it is given. It is not part of the product.

/** A mail that was handed in. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** Header values by lower-case name, encoded words decoded. */
  headers: Record<string, string>;
  text: string;
  html: string;
}

export interface MailServer {
  /** For SMTP_URL. */
  url: string;
  mails: ReceivedMail[];
  /** Tries to hand in a mail, refused ones included. */
  tries(): number;
  /** Connections that were opened. */
  connections(): number;
  /** Refuses the next `count` mails, for the time being as a busy server does, or with another code. */
  refuse(count: number, code?: number): void;
  stop(): Promise<void>;
}

const unfold = (text: string) => text.replace(/\r\n[ \t]+/g, " ");

const percentBytes = (text: string) =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );

/** RFC 2047 words as text. */
const decodeWords = (value: string): string =>
  value
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      (kind.toUpperCase() === "B" ? Buffer.from(word, "base64") : percentBytes(word.replaceAll("_", " "))).toString("utf8"),
    );

function headersOf(head: string): Record<string, string> {
  const lines = unfold(head).split("\r\n").filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
    }),
  );
}

function split(message: string): { headers: Record<string, string>; body: string } {
  const end = message.indexOf("\r\n\r\n");
  return { headers: headersOf(message.slice(0, end)), body: message.slice(end + 4) };
}

/** The text of a part without parts of its own. */
function decoded(headers: Record<string, string>, body: string): string {
  const encoding = headers["content-transfer-encoding"]?.toLowerCase();
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding === "quoted-printable") return percentBytes(body.replace(/=\r\n/g, "")).toString("utf8").replace(/\r\n/g, "\n");
  return body.replace(/\r\n/g, "\n");
}

/** Text and HTML of a plain or multipart/alternative message. */
function bodies(message: string): { headers: Record<string, string>; text: string; html: string } {
  const { headers, body } = split(message);
  const boundary = /boundary="?([^";]+)"?/.exec(headers["content-type"] ?? "")?.[1];
  const parts =
    boundary === undefined
      ? [{ headers, body }]
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => split(part.slice(2)));
  const of = (type: string) => {
    const part = parts.find((one) => (one.headers["content-type"] ?? "text/plain").startsWith(type));
    return part ? decoded(part.headers, part.body) : "";
  };
  return { headers, text: of("text/plain"), html: of("text/html") };
}

/** Starts a mail server on a free port of this machine. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let tries = 0;
  let connections = 0;
  let refusals = { count: 0, code: 451 };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    closeTimeout: 1000,
    onConnect(_session, accept) {
      connections += 1;
      accept();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        tries += 1;
        if (refusals.count > 0) {
          refusals.count -= 1;
          return done(Object.assign(new Error("Not taken"), { responseCode: refusals.code }));
        }
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          ...bodies(Buffer.concat(chunks).toString("utf8")),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    tries: () => tries,
    connections: () => connections,
    refuse(count, code = 451) {
      refusals = { count, code };
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

import { AsyncResource } from "node:async_hooks";
import { notificationEmail } from "#server/features/notifications/mail.ts";
import { reviewEmail, summaryEmail } from "#server/features/reviews/tell.ts";
import { finds, type Sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { type MailFooter, quotedName } from "#server/platform/mail/layout.ts";
import {
  dropEmail,
  type Lane,
  noteFailed,
  noteSent,
  onQueued,
  sendDue,
  type TakenEmail,
  takeEmail,
  tryServerNow,
} from "#server/platform/mail/outbox.ts";
import { type Recipient, recipientPage, recipientsOf, recipientToken, unsubscribeUrl } from "#server/platform/mail/recipients.ts";
import { isMailOn, type MailBody, type MailConnections, mailFailure, openMailConnections } from "#server/platform/mail/send-mail.ts";
import { unseal } from "#server/platform/secrets.ts";

/** Emails of each lane that this process sends at once. Those about accounts have connections of their own, so no project delays them. */
const AT_ONCE: Record<Lane, number> = { account: 2, project: 4 };
const LANES = Object.keys(AT_ONCE) as Lane[]; // cast: its keys

/** Starts sending emails that are due, and those of a process that has died. Does not wait for the mail server. */
export const outboxSweep: Sweep = {
  isDue: finds("SELECT FROM emails WHERE due_at <= now()", "SELECT FROM email_recipients WHERE summary_at <= now()"),
  run: async () => sendDue(),
};

/** Footer of every email of a project. */
function footerOf({ project_name, is_member, is_confirmed }: Recipient, url: string): MailFooter {
  const project = `the project ${quotedName(project_name)}`;
  return is_member || is_confirmed
    ? { words: `This email was sent for ${project}.`, label: "Stop its emails to you", url }
    : {
        words: `You get no further emails of ${project} until you confirm that you want them.`,
        label: "Confirm or stop these emails",
        url,
      };
}

/** An email whole, as it is now. @returns null when it is not wanted any more */
async function written(email: TakenEmail): Promise<(MailBody & { unsubscribe_url?: string }) | null> {
  const { kind, project_id, address, body } = email;
  // cast: what queueAccountEmail has sealed
  if (kind === "account") return body === null ? null : (JSON.parse(unseal(body)) as MailBody);
  const [recipient] = project_id === null ? [] : await recipientsOf(project_id, [address]);
  if (!recipient || recipient.state === "stopped") return null;
  const token = recipientToken(recipient.id);
  const footer = footerOf(recipient, recipientPage(token));
  const made = await {
    review: () => reviewEmail(email, footer),
    notification: () => notificationEmail(email, footer),
    summary: () => summaryEmail({ ...recipient, held: email.count }, footer),
  }[kind]();
  return made && { ...made, unsubscribe_url: unsubscribeUrl(token) };
}

/**
 * Sends queued emails in this process until it is stopped: by turns of their projects, over a few connections that are closed when
 * nothing is left. Any number of processes may do it.
 * @returns how to stop it: emails under way get `graceMs`, and are tried by another process after that
 */
export async function startSending(): Promise<(graceMs: number) => Promise<void>> {
  const busy: Record<Lane, number> = { account: 0, project: 0 };
  const working = new Set<Promise<void>>();
  let connections: Promise<MailConnections> | undefined;
  let isStopped = false;

  const close = () => {
    connections?.then((opened) => opened.close()).catch(() => undefined);
    connections = undefined;
  };

  const send = async (email: TakenEmail) => {
    const mail = await written(email);
    if (!mail) return dropEmail(email);
    try {
      connections ??= openMailConnections(AT_ONCE.account + AT_ONCE.project);
      await (await connections).send({ to: email.address, message_id: email.message_id, ...mail });
    } catch (error) {
      const failure = mailFailure(error);
      log.warn({ email_id: email.id, kind: email.kind, reason: failure.message, failure: failure.kind }, "an email could not be sent");
      if (failure.kind === "server") close();
      return noteFailed(email, failure);
    }
    await noteSent(email);
  };

  const work = async (lane: Lane) => {
    while (!isStopped) {
      const email = await takeEmail(lane);
      if (!email) return;
      begin(lane); // there may be more than this one can send at once
      await send(email);
    }
  };

  const begin = (lane: Lane) => {
    if (isStopped || busy[lane] >= AT_ONCE[lane] || !isMailOn()) return;
    busy[lane] += 1;
    const done = work(lane)
      .catch((error: unknown) => log.warn({ err: error }, "queued emails could not be worked on, the next look tries again"))
      .finally(() => {
        busy[lane] -= 1;
        working.delete(done);
        if (working.size === 0) close();
      });
    working.add(done);
  };

  // Outside the async context of the caller that queues an email, which may be a transaction.
  const look = AsyncResource.bind(() => LANES.forEach(begin));
  if (isMailOn()) await tryServerNow();
  onQueued(look);
  look();
  return async (graceMs) => {
    isStopped = true;
    onQueued(() => undefined);
    const timer = Promise.withResolvers<void>();
    const timeout = setTimeout(timer.resolve, graceMs);
    await Promise.race([Promise.all(working), timer.promise]);
    clearTimeout(timeout);
    close();
  };
}

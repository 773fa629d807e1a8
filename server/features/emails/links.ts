import type { z } from "zod";
import type { ChangeEmailsInput, EmailLink, LinkedEmails } from "#server/features/emails/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { sendDue } from "#server/platform/mail/outbox.ts";
import { changeRecipient, type Recipient, recipientOf } from "#server/platform/mail/recipients.ts";

// Choices behind the link in every email of a project. A GET changes nothing, because mail scanners open links too.

async function linked(token: string): Promise<Recipient> {
  const recipient = await recipientOf(token);
  if (!recipient) throw new AppError("NOT_FOUND", "This link belongs to no emails. Check that it was copied whole.");
  return recipient;
}

const shown = ({ address, project_name, state, held }: Recipient): LinkedEmails => ({ address, project_name, state, held });

/** The emails of a project that a link is about. @throws AppError NOT_FOUND */
export const getLinkedEmails = async ({ token }: z.infer<typeof EmailLink>): Promise<LinkedEmails> => shown(await linked(token));

/**
 * Confirms, stops or resumes the emails of a project to an address; the token in the link is the authority. Choosing the same again
 * changes nothing.
 * @throws AppError NOT_FOUND
 */
export async function changeLinkedEmails({ token, choice }: z.infer<typeof ChangeEmailsInput>): Promise<LinkedEmails> {
  const { id, address, project_id, project_name } = await linked(token);
  await inTransaction(async (client) => {
    if (!(await changeRecipient(client, id, choice))) return;
    const actor = { user: { id: null, email: address }, auth: { type: "email" as const }, project: { id: project_id } };
    const resource = { resource_type: "project", resource_id: project_id, resource_name: project_name } as const;
    await recordAudit(client, actor, { action: `project.${choice}_emails`, ...resource, detail: { address } });
  });
  sendDue();
  return shown(await linked(token));
}

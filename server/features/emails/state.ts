import type { z } from "zod";
import type { MailState, RecipientInput, RecipientStanding } from "#server/features/emails/schema.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { assertInstallAdmin } from "#server/platform/auth/rights.ts";
import { outboxState } from "#server/platform/mail/outbox.ts";
import { recipientsOf } from "#server/platform/mail/recipients.ts";
import { isMailOn } from "#server/platform/mail/send-mail.ts";

/** Returns the last known state of the mail server and the number of queued emails. @throws AppError PERMISSION_DENIED unless the caller is an install admin */
export async function readMailState(principal: Principal): Promise<MailState> {
  await assertInstallAdmin(principal);
  const { last_sent_at, last_error, last_error_at, retry_at, queued, held } = await outboxState();
  return {
    is_on: isMailOn(),
    last_sent_at: last_sent_at?.toISOString() ?? null,
    last_error: last_error !== null && last_error_at ? { message: last_error, at: last_error_at.toISOString() } : null,
    retry_at: retry_at && retry_at > new Date() ? retry_at.toISOString() : null,
    queued,
    held,
  };
}

/** Returns the state of an address in the project; `open` for one that nothing was sent to. */
export async function readRecipient(
  { project }: ProjectPrincipal,
  { address }: z.infer<typeof RecipientInput>,
): Promise<z.infer<typeof RecipientStanding>> {
  const [recipient] = await recipientsOf(project.id, [address.toLowerCase()]);
  return { state: recipient?.state ?? "open" };
}

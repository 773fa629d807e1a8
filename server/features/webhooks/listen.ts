import { type Delivery, triggerTextIfAny } from "#server/features/webhooks/deliveries.ts";
import type { HeardCall, WebhookRef } from "#server/features/webhooks/schema.ts";
import { findWorkflow } from "#server/features/workflows/rows.ts";
import type { SavedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { MASK, maskerOf } from "#server/platform/masking/masker.ts";

// Listening in the editor: the next call that proves its sender is kept, beside the run that it starts, to be looked at and to be
// what the workflow is tried on.

/** How long the editor listens, in milliseconds. */
const LISTEN_MS = 10 * 60_000;
/** How much of a call is kept. */
const MOST_HEADERS = 60;
const MOST_OF_HEADER = 500;
const MOST_OF_BODY = 65_536;

/** Headers whose values prove something, or may: they are shown masked. */
const SECRET = /auth|cookie|secret|token|signature|key|password|session/i;

/**
 * Starts to listen for the next call, or stops. What was heard before stays until the next one comes.
 * @throws AppError NOT_FOUND; CONFLICT when the webhook is not set up
 */
export async function listenToWebhook(principal: ProjectPrincipal, { workflow_id, is_on }: WebhookRef & { is_on: boolean }): Promise<void> {
  await db().$transaction(async (tx) => {
    const { name } = await findWorkflow(principal, workflow_id, { name: true }, tx);
    const listen_until = is_on ? new Date(Date.now() + LISTEN_MS) : null;
    const { count } = await tx.webhook.updateMany({ where: { workflow_id }, data: { listen_until } });
    if (count === 0) throw new AppError("CONFLICT", "Set the webhook up first: until then every call is refused.");
    // Who listens sees what others send.
    if (is_on)
      await recordAudit(tx, principal, {
        action: "webhook.listen",
        resource_type: "workflow",
        resource_id: workflow_id,
        resource_name: name,
      });
  });
}

/**
 * Keeps a call that was listened for, once: its headers with what is secret masked, its body, and what the trigger would give.
 * @param proof `hidden`: names in small letters of headers that prove something
 */
export async function keepHeard(
  workflow: SavedWorkflow,
  headers: Headers,
  { content, sent }: Pick<Delivery, "content" | "sent">,
  { secret, hidden }: { secret: string; hidden: readonly string[] },
): Promise<void> {
  const masker = maskerOf([secret]);
  // Cleaned after it is cut, which may leave half a character behind.
  const shownOf = (value: string, most: number) => cleanText(masker.text(value).slice(0, most));
  const shown = [...headers]
    .slice(0, MOST_HEADERS)
    .map(([name, value]) => [name, SECRET.test(name) || hidden.includes(name) ? MASK : shownOf(value, MOST_OF_HEADER)]);
  const input = triggerTextIfAny(workflow, content);
  const heard: HeardCall = {
    received_at: new Date().toISOString(),
    headers: Object.fromEntries(shown),
    body: shownOf(content instanceof AppError ? sent : (content.raw ?? content.json), MOST_OF_BODY),
    input: input === null ? null : shownOf(input, MOST_OF_BODY),
  };
  await db().webhook.updateMany({
    where: { workflow_id: workflow.id, listen_until: { gt: new Date() } },
    data: { heard, listen_until: null },
  });
}

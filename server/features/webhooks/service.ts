import { randomBytes } from "node:crypto";
import { canReplay } from "#server/features/webhooks/deliveries.ts";
import { HeardCall, type SetupWebhookInput, type WebhookSetup, type WebhookState } from "#server/features/webhooks/schema.ts";
import { findWorkflow } from "#server/features/workflows/rows.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import { randomToken, seal } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";

/** The address that a sender posts to. */
export const webhookUrl = (workflow_id: string): string => `${appUrl()}/api/v1/webhooks/${workflow_id}`;

/** A new secret; of Standard Webhooks in the form that its libraries take, 24 bytes. */
async function newSecret(workflow_id: string): Promise<string> {
  const saved = await savedWorkflow(workflow_id);
  return saved?.trigger.auth === "standard" ? `whsec_${randomBytes(24).toString("base64")}` : randomToken();
}

/**
 * Makes the secret of a workflow's webhook, or takes the sender's own, in place of the one before: until the sender has that, its
 * calls get 401.
 * @returns the secret, which is never shown again
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when the saved trigger is of another kind
 */
export async function setupWebhook(
  principal: ProjectPrincipal,
  { workflow_id, webhook_secret: given }: SetupWebhookInput,
): Promise<WebhookSetup> {
  const webhook_secret = given ?? (await newSecret(workflow_id));
  await db().$transaction(async (tx) => {
    const { name, trigger } = await findWorkflow(principal, workflow_id, { name: true, trigger: true }, tx);
    if (trigger !== "webhook") {
      const message = "This workflow's trigger is no webhook. Choose Webhook in its trigger node and save first.";
      throw invalidField("workflow_id", "has a trigger of another kind", message);
    }
    const row = { sealed_secret: seal(webhook_secret), rotated_at: new Date() };
    await tx.webhook.upsert({ where: { workflow_id }, create: { workflow_id, ...row }, update: row });
    const audit = { action: "webhook.setup", resource_type: "workflow", resource_id: workflow_id, resource_name: name } as const;
    await recordAudit(tx, principal, audit);
  });
  return { webhook_url: webhookUrl(workflow_id), webhook_secret };
}

/** How many deliveries the editor shows. */
const SHOWN = 20;

/**
 * A workflow's webhook for the editor: its address, whether it was set up, and what arrived lately. Never the secret.
 * @throws AppError NOT_FOUND
 */
export async function getWebhookState(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<WebhookState> {
  await findWorkflow(principal, workflow_id, { id: true });
  const [webhook, saved, deliveries] = await Promise.all([
    db().webhook.findUnique({ where: { workflow_id }, select: { rotated_at: true, listen_until: true, heard: true } }),
    savedWorkflow(workflow_id),
    db().webhookDelivery.findMany({
      where: { workflow_id },
      orderBy: { id: "desc" },
      take: SHOWN,
      select: { id: true, status: true, execution_id: true, error: true, received_at: true, body: true },
    }),
  ]);
  return {
    webhook_url: webhookUrl(workflow_id),
    has_secret: webhook !== null,
    rotated_at: webhook?.rotated_at.toISOString() ?? null,
    auth: saved?.trigger.auth ?? "signature",
    listens_until: webhook?.listen_until && webhook.listen_until > new Date() ? webhook.listen_until.toISOString() : null,
    heard: HeardCall.safeParse(webhook?.heard).data ?? null,
    deliveries: deliveries.map(({ body, received_at, ...delivery }) => ({
      ...delivery,
      received_at: received_at.toISOString(),
      can_replay: canReplay(body),
    })),
  };
}

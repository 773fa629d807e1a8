import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { WebhookSetup } from "#server/schemas/webhook.ts";
import { randomToken, seal } from "#server/secrets.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { webhookUrl } from "#server/services/webhooks/webhook-url.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";

/**
 * Makes the secret of a workflow's webhook, or another one in its place: until the sender has that, its calls get 401.
 * @returns the secret, which is never shown again
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when the saved trigger is of another kind
 */
export async function setupWebhook(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<WebhookSetup> {
  const webhook_secret = randomToken();
  await db().$transaction(async (tx) => {
    const { name, trigger } = await findWorkflow(principal, workflow_id, { name: true, trigger: true }, tx);
    if (trigger !== "webhook") {
      const message = "This workflow's trigger is no webhook. Choose Webhook in its trigger node and save first.";
      throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "workflow_id", message: "has a trigger of another kind" }] });
    }
    const row = { sealed_secret: seal(webhook_secret), rotated_at: new Date() };
    await tx.webhook.upsert({ where: { workflow_id }, create: { workflow_id, ...row }, update: row });
    const audit = { action: "webhook.setup", resource_type: "workflow", resource_id: workflow_id, resource_name: name };
    await recordAudit(principal, audit, tx);
  });
  return { webhook_url: webhookUrl(workflow_id), webhook_secret };
}

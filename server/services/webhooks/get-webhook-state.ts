import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { WebhookState } from "#server/schemas/webhook.ts";
import { canReplay } from "#server/services/webhooks/can-replay.ts";
import { webhookUrl } from "#server/services/webhooks/webhook-url.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";

/** How many deliveries the editor shows. */
const SHOWN = 20;

/**
 * A workflow's webhook for the editor: its address, whether it was set up, and what arrived lately. Never the secret.
 * @throws AppError NOT_FOUND
 */
export async function getWebhookState(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<WebhookState> {
  await findWorkflow(principal, workflow_id, { id: true });
  const [webhook, deliveries] = await Promise.all([
    db().webhook.findUnique({ where: { workflow_id }, select: { rotated_at: true } }),
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
    deliveries: deliveries.map(({ body, received_at, ...delivery }) => ({
      ...delivery,
      received_at: received_at.toISOString(),
      can_replay: canReplay(body),
    })),
  };
}

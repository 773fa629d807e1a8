import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError, notFound } from "#server/errors.ts";
import type { ExecuteResult } from "#server/schemas/execution.ts";
import type { ReplayDeliveryInput } from "#server/schemas/webhook.ts";
import { isUuid } from "#server/services/ids.ts";
import { acceptDelivery } from "#server/services/webhooks/accept-delivery.ts";
import { canReplay } from "#server/services/webhooks/can-replay.ts";
import { savedWorkflow } from "#server/services/workflows/saved-workflow.ts";

/**
 * Runs the body of an earlier delivery again, as a new delivery to the version that is saved now.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when its body was not kept whole; then what `acceptDelivery` throws
 */
export async function replayDelivery({ project, user }: ProjectPrincipal, { delivery_id }: ReplayDeliveryInput): Promise<ExecuteResult> {
  if (!isUuid(delivery_id)) throw notFound("delivery");
  const delivery = await db().webhookDelivery.findFirst({
    where: { id: delivery_id, webhook: { workflow: { project_id: project.id, deleted_at: null } } },
    select: { workflow_id: true, body: true },
  });
  const workflow = delivery && (await savedWorkflow(delivery.workflow_id));
  if (!workflow) throw notFound("delivery");
  const { body } = delivery;
  if (body === null || !canReplay(body))
    throw new AppError("VALIDATION_ERROR", "The body of this delivery was not kept whole, so it cannot be sent again from here.");
  return acceptDelivery(workflow, { body: Buffer.from(body), key: null, started_by_id: user.id });
}

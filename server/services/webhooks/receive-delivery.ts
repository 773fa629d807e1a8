import { AppError } from "#server/errors.ts";
import { log } from "#server/log.ts";
import type { ExecuteResult } from "#server/schemas/execution.ts";
import { randomToken, unsealOften } from "#server/secrets.ts";
import { acceptDelivery } from "#server/services/webhooks/accept-delivery.ts";
import { deliveryKey } from "#server/services/webhooks/delivery-key.ts";
import { isTimely } from "#server/services/webhooks/delivery-time.ts";
import { noteRefusal } from "#server/services/webhooks/note-refusal.ts";
import { isSigned } from "#server/services/webhooks/signature.ts";
import { savedWorkflow } from "#server/services/workflows/saved-workflow.ts";

/** Signatures are checked against it where there is no secret, so that an unknown workflow answers no sooner. */
const DECOY = randomToken();

export const badSignature = (): AppError =>
  new AppError("AUTH_REQUIRED", "The signature is missing or wrong. Send `X-SERVICE-Signature: sha256=<hex HMAC-SHA256 of the raw body>`.");

function secretOf(sealed: string | null | undefined): string | undefined {
  if (!sealed) return undefined;
  try {
    return unsealOften(sealed);
  } catch (error) {
    log.error({ err: error }, "the secret of a webhook cannot be read; set it up again");
    return undefined;
  }
}

/**
 * A call of a sender: checked by its signature alone, which comes first, so that nobody without the secret learns whether
 * the workflow exists.
 * @param body the bytes as they came
 * @throws AppError AUTH_REQUIRED, the same for a bad signature, a time that is off, an unknown workflow and one that was
 *   never set up; then what `acceptDelivery` throws
 */
export async function receiveDelivery(workflow_id: string, headers: Headers, body: Uint8Array): Promise<ExecuteResult> {
  const workflow = await savedWorkflow(workflow_id);
  const secret = secretOf(workflow?.sealed_secret);
  const isGood = isSigned(body, headers.get("x-service-signature"), secret ?? DECOY);
  if (!workflow || secret === undefined || !isGood) {
    void noteRefusal(workflow_id, "wrong");
    throw badSignature();
  }
  if (!isTimely(headers)) {
    void noteRefusal(workflow_id, "late");
    throw badSignature();
  }
  return acceptDelivery(workflow, { body, key: deliveryKey(headers), started_by_id: null });
}

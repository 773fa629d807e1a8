import { badSignature, isSignature, noteRefusal, receiveDelivery } from "#server/features/webhooks/receive.ts";
import { readBytes } from "#server/http/messages/read-json.ts";
import { jsonResponse, loggedErrorResponse } from "#server/http/messages/respond.ts";

/** `POST …/webhooks/{workflow_id}`: no key and no session, the signature over the raw body is the only proof. */
export async function incomingWebhook(request: Request, { params }: { params: { workflow_id: string } }): Promise<Response> {
  try {
    const { workflow_id } = params;
    if (!isSignature(request.headers.get("x-service-signature"))) {
      void noteRefusal(workflow_id, "missing");
      throw badSignature();
    }
    // A body over the limit is 413 whatever the workflow, so this tells nothing of it either.
    return jsonResponse(await receiveDelivery(workflow_id, request.headers, await readBytes(request)), 202);
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

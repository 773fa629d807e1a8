import { receiveDelivery } from "#server/features/webhooks/receive.ts";
import { readBytes } from "#server/http/messages/read-json.ts";
import { jsonResponse, loggedErrorResponse } from "#server/http/messages/respond.ts";

/** `POST …/webhooks/{workflow_id}`: no key and no session, what its trigger asks of the sender is the only proof. */
export async function incomingWebhook(request: Request, { params }: { params: { workflow_id: string } }): Promise<Response> {
  try {
    // A body over the limit is 413 whatever the workflow, so this tells nothing of it either.
    const answer = await receiveDelivery(params.workflow_id, request.headers, () => readBytes(request));
    return jsonResponse(answer, "challenge" in answer ? 200 : 202);
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

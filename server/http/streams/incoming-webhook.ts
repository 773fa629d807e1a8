import { receiveDelivery, verifyAddress } from "#server/features/webhooks/receive.ts";
import type { VerificationAnswer } from "#server/features/webhooks/verifications.ts";
import { readBytes } from "#server/http/messages/read-json.ts";
import { jsonResponse, loggedErrorResponse, methodNotAllowed } from "#server/http/messages/respond.ts";
import { AppError } from "#server/platform/errors.ts";

interface Context {
  params: { workflow_id: string };
}

/** Response to a question about the address. It holds text of the caller, which no browser may take for a page. */
const verificationResponse = ({ type, body, headers }: VerificationAnswer): Response =>
  new Response(body, { headers: { ...headers, "content-type": type, "x-content-type-options": "nosniff", "cache-control": "no-store" } });

/** `POST …/webhooks/{workflow_id}`: no key and no session, what its trigger asks of the sender is the only proof. */
export async function incomingWebhook(request: Request, { params }: Context): Promise<Response> {
  try {
    // A body over the limit is 413 whatever the workflow, so this tells nothing of it either.
    const answer = await receiveDelivery(params.workflow_id, request, () => readBytes(request));
    return "execution_id" in answer ? jsonResponse(answer, 202) : verificationResponse(answer);
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

const noQuestion = methodNotAllowed("GET", "HEAD", "POST");

/**
 * `GET`, `HEAD` and `OPTIONS …/webhooks/{workflow_id}`: questions of senders about the address. An unknown workflow and a question of
 * another sender have one answer: 401, and for OPTIONS the methods.
 */
export async function verifyWebhook(request: Request, { params }: Context): Promise<Response> {
  try {
    const answer = await verifyAddress(params.workflow_id, request);
    if (answer) return verificationResponse(answer);
    if (request.method === "OPTIONS") return await noQuestion(request);
    const message = `${request.method} only answers how the sender of this webhook verifies its address. Send deliveries by POST.`;
    throw new AppError("AUTH_REQUIRED", message);
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

import { serve } from "inngest/next";
import { noteCall } from "#server/events/contact.ts";
import { inngest } from "#server/events/inngest-client.ts";
import { STEP_BYTES } from "#server/http/front/body-bounds.ts";
import { readBytes } from "#server/http/messages/read-json.ts";
import { inngestFunctions } from "#server/jobs/inngest-functions.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";

type Handler = (request: Request) => Promise<Response>;
let handler: Handler | undefined;

/**
 * What a real Inngest server calls. Without one nothing is there: nothing would check signatures.
 * Of the SDK's adapters it takes Next's, because that one goes by the `Host` header: a server inside a network is told to call us
 * where it found us.
 */
export async function answerInngest(request: Request): Promise<Response> {
  if (isEmbeddedExecutor()) return new Response(null, { status: 404 });
  handler ??= serve({
    client: inngest(),
    functions: inngestFunctions(),
    // Registering tells the server the address that it was asked at, so only the server itself may ask: anybody else could
    // send all runs to an address of theirs.
    enableUnauthedSync: false,
  }) as unknown as Handler; // cast: the adapter's type names Next's own request
  if (request.method === "GET") return handler(request);
  const { url, method, headers } = request;
  const receivedAt = Date.now();
  const body = Uint8Array.from(await readBytes(request, Math.max(settings().MAX_BODY_BYTES, STEP_BYTES)));
  const answer = await handler(new Request(url, { method, headers, body }));
  // So that people can see whether the server gets through.
  noteCall(headers.get("x-inngest-signature"), answer.status, receivedAt);
  return answer;
}

import { serve } from "inngest/next";
import { noteInngestCall } from "#server/http/inngest-calls.ts";
import { inngest } from "#server/jobs/inngest/client.ts";
import { inngestFunctions } from "#server/jobs/inngest/functions/index.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";

export const dynamic = "force-dynamic";
export const maxDuration = 300;

// A real Inngest server calls this. With the embedded executor nothing is exposed: its mode checks no signatures.
type Handler = (request: Request, context: unknown) => Promise<Response>;
let handlers: Record<"GET" | "POST" | "PUT", Handler> | undefined;
const absent = async () => new Response(null, { status: 404 });

function handler(method: "GET" | "POST" | "PUT"): Handler {
  return (request, context) => {
    if (isEmbeddedExecutor()) return absent();
    handlers ??= serve({
      client: inngest(),
      functions: inngestFunctions(),
      // Registering tells the server the address that it was asked at, so only the server itself may ask: anybody else could
      // send all runs to an address of theirs.
      enableUnauthedSync: false,
    }) as unknown as Record<"GET" | "POST" | "PUT", Handler>;
    const answer = handlers[method](request, context);
    return method === "GET" ? answer : noteInngestCall(request, answer);
  };
}

export const GET = handler("GET");
export const POST = handler("POST");
export const PUT = handler("PUT");

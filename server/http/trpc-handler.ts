import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { countCalls } from "#server/http/call-limit.ts";
import { createContext, isReading } from "#server/http/context.ts";
import { loggedErrorResponse } from "#server/http/rest/api-route.ts";
import { readBytes } from "#server/http/rest/read-json.ts";
import { appRouter } from "#server/http/root.ts";
import { parseCleanJson } from "#server/platform/clean-text.ts";
import { appErrorOf } from "#server/platform/rpc/trpc.ts";
import { MOST_CALLS } from "#server/shared/primitives-schema.ts";

/** What somebody may send who is not signed in: the forms of the entry pages. */
const STRANGER_BYTES = 64 * 1024;

function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-length");
  return copy;
}

/** A JSON body with its texts cleaned; what is no JSON stays as it is, for tRPC to refuse. */
function cleaned(body: Uint8Array): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(parseCleanJson(new TextDecoder().decode(body))));
  } catch {
    return body;
  }
}

/** The body read within the limit and cleaned as the REST adapter does, so that tRPC has nothing unbounded to read. */
async function bounded(request: Request, isKnown: boolean): Promise<Request> {
  if (isReading(request.method)) return request;
  const body = await readBytes(request, isKnown ? undefined : STRANGER_BYTES);
  return new Request(request.url, {
    method: request.method,
    headers: withoutLength(request.headers),
    body: Uint8Array.from(cleaned(body)),
    signal: request.signal,
  });
}

const isJson = (request: Request) => /^application\/json\s*(;|$)/i.test(request.headers.get("content-type")?.trim() ?? "");

/** tRPC's own words for it are none of ours, and another type would let a form of another site send without being asked about. */
const notJson = (): Response =>
  Response.json(
    { detail: "Send JSON, with the header `Content-Type: application/json`.", error_code: "BAD_REQUEST", status: 415 },
    { status: 415, headers: { "cache-control": "no-store" } },
  );

/** The web UI's door: tRPC with the browser session. A platform key is refused. */
export async function handleTrpc(request: Request): Promise<Response> {
  try {
    if (request.method === "POST" && !isJson(request)) return notJson();
    // Who asks is known before anything is read; a refusal is told in tRPC's way.
    const context = createContext(request, { sessionOnly: true });
    const principal = await context.then(
      ({ principal }) => principal,
      () => null,
    );
    const req = await bounded(request, principal !== null);
    return await fetchRequestHandler({
      endpoint: "/api/trpc",
      req,
      router: appRouter,
      // A query whose input is too long for an address comes by POST.
      allowMethodOverride: true,
      maxBatchSize: MOST_CALLS,
      createContext: async ({ info }) => {
        await countCalls(await context, info.calls.length);
        return context;
      },
      responseMeta: ({ errors }) => {
        const wait = errors.map((error) => appErrorOf(error).retryAfter).find((seconds) => seconds !== undefined);
        return { headers: { "cache-control": "no-store", ...(wait !== undefined && { "retry-after": String(Math.ceil(wait)) }) } };
      },
    });
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

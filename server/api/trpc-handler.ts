import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createContext } from "#server/api/context.ts";
import { loggedErrorResponse } from "#server/api/rest/api-route.ts";
import { readBytes } from "#server/api/rest/read-json.ts";
import { appRouter } from "#server/api/root.ts";
import { parseCleanJson } from "#server/clean-text.ts";

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
async function bounded(request: Request): Promise<Request> {
  if (!request.body) return request;
  const body = await readBytes(request);
  return new Request(request.url, {
    method: request.method,
    headers: withoutLength(request.headers),
    body: Uint8Array.from(cleaned(body)),
    signal: request.signal,
  });
}

/** The web UI's door: tRPC with the browser session. A platform key is refused. */
export async function handleTrpc(request: Request): Promise<Response> {
  try {
    const req = await bounded(request);
    return await fetchRequestHandler({
      endpoint: "/api/trpc",
      req,
      router: appRouter,
      // A query whose input is too long for an address comes by POST.
      allowMethodOverride: true,
      createContext: () => createContext(req, { sessionOnly: true }),
      responseMeta: () => ({ headers: { "cache-control": "no-store" } }),
    });
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

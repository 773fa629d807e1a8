import { authRequired, loggedErrorResponse } from "#server/http/messages/respond.ts";
import { createRestHandler } from "#server/http/rest/handler.ts";
import { createContext } from "#server/http/trpc/context.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import { AppError } from "#server/platform/errors.ts";
import { settings } from "#server/platform/settings.ts";

/** What is not there under /api/v1/bridge, path or method: nobody learns so without a session, and an API key never gets this far. */
export async function handleUnknownBridgePath(request: Request): Promise<Response> {
  try {
    const { principal } = await createContext(request, { sessionOnly: true });
    if (!principal) throw authRequired(true);
    throw new AppError("NOT_FOUND", "There is nothing at this path of the assistant's interface.");
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}

/** Answers every request under /api/v1 that has no route handler of its own. */
export const handleRest = createRestHandler(appRouter, {
  prefix: "/api/v1",
  createContext: (request, keyNeeds) => createContext(request, { keyNeeds }),
  maxBodyBytes: () => settings().MAX_BODY_BYTES,
});

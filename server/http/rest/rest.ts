import { createContext } from "#server/http/context.ts";
import { createRestHandler } from "#server/http/rest/handler.ts";
import { appRouter } from "#server/http/root.ts";
import { settings } from "#server/platform/settings.ts";

/** Answers every request under /api/v1 that has no route handler of its own. */
export const handleRest = createRestHandler(appRouter, {
  prefix: "/api/v1",
  createContext: (request, keyNeeds) => createContext(request, { keyNeeds }),
  maxBodyBytes: () => settings().MAX_BODY_BYTES,
});

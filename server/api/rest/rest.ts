import { createContext } from "#server/api/context.ts";
import { createRestHandler } from "#server/api/rest/handler.ts";
import { appRouter } from "#server/api/root.ts";
import { settings } from "#server/settings.ts";

/** Answers every request under /api/v1 that has no route handler of its own. */
export const handleRest = createRestHandler(appRouter, {
  prefix: "/api/v1",
  createContext: (request, keyNeeds) => createContext(request, { keyNeeds }),
  maxBodyBytes: () => settings().MAX_BODY_BYTES,
});

import { createRestHandler } from "#server/http/rest/handler.ts";
import { createContext } from "#server/http/trpc/context.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import { settings } from "#server/platform/settings.ts";

const options = { prefix: "/api/v1", maxBodyBytes: () => settings().MAX_BODY_BYTES };

/** Answers every request under /api/v1 that has no route handler of its own. */
export const handleRest = createRestHandler(appRouter, {
  ...options,
  createContext: (request, keyNeeds) => createContext(request, { keyNeeds }),
});

/** The same under /api/v1/bridge, which is the web app's: the browser's session opens it, and no API key. */
export const handleBridge = createRestHandler(appRouter, {
  ...options,
  sessionOnly: true,
  createContext: (request) => createContext(request, { sessionOnly: true }),
});

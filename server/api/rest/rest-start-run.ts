import { createContext } from "#server/api/context.ts";
import { createRestHandler } from "#server/api/rest/handler.ts";
import { workflowsRouter } from "#server/api/routers/workflows.ts";
import { router } from "#server/api/trpc.ts";
import { settings } from "#server/settings.ts";

/** The REST API's operations on workflows, without loading all others: what starts runs is answered in front of Next. */
export const startRun = createRestHandler(router({ workflows: workflowsRouter }), {
  prefix: "/api/v1",
  createContext: (request, keyNeeds) => createContext(request, { keyNeeds }),
  maxBodyBytes: () => settings().MAX_BODY_BYTES,
});

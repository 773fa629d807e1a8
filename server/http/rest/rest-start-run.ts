import { workflowsRouter } from "#server/features/workflows/router.ts";
import { createContext } from "#server/http/context.ts";
import { createRestHandler } from "#server/http/rest/handler.ts";
import { router } from "#server/platform/rpc/trpc.ts";
import { settings } from "#server/platform/settings.ts";

/** The REST API's operations on workflows, without loading all others: what starts runs is answered in front of Next. */
export const startRun = createRestHandler(router({ workflows: workflowsRouter }), {
  prefix: "/api/v1",
  createContext: (request, keyNeeds) => createContext(request, { keyNeeds }),
  maxBodyBytes: () => settings().MAX_BODY_BYTES,
});

import { agentsRouter } from "#server/api/routers/agents.ts";
import { executionsRouter } from "#server/api/routers/executions.ts";
import { identityRouter } from "#server/api/routers/identity.ts";
import { llmKeysRouter } from "#server/api/routers/llm-keys.ts";
import { platformKeysRouter } from "#server/api/routers/platform-keys.ts";
import { projectsRouter } from "#server/api/routers/projects.ts";
import { workflowsRouter } from "#server/api/routers/workflows.ts";
import { createCallerFactory, router } from "#server/api/trpc.ts";

/** Every operation: the web UI calls it over tRPC, and those with OpenAPI metadata are the REST API. */
export const appRouter = router({
  agents: agentsRouter,
  executions: executionsRouter,
  identity: identityRouter,
  llmKeys: llmKeysRouter,
  platformKeys: platformKeysRouter,
  projects: projectsRouter,
  workflows: workflowsRouter,
});
export type AppRouter = typeof appRouter;

export const createCaller = createCallerFactory(appRouter);

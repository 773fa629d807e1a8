import { agentsRouter } from "#server/api/routers/agents.ts";
import { checksRouter } from "#server/api/routers/checks.ts";
import { executionsRouter } from "#server/api/routers/executions.ts";
import { identityRouter } from "#server/api/routers/identity.ts";
import { llmKeysRouter } from "#server/api/routers/llm-keys.ts";
import { notificationsRouter } from "#server/api/routers/notifications.ts";
import { platformKeysRouter } from "#server/api/routers/platform-keys.ts";
import { projectsRouter } from "#server/api/routers/projects.ts";
import { reviewsRouter } from "#server/api/routers/reviews.ts";
import { webhooksRouter } from "#server/api/routers/webhooks.ts";
import { workflowsRouter } from "#server/api/routers/workflows.ts";
import { createCallerFactory, router } from "#server/api/trpc.ts";

/** Every operation: the web UI calls it over tRPC, and those with OpenAPI metadata are the REST API. */
export const appRouter = router({
  agents: agentsRouter,
  checks: checksRouter,
  executions: executionsRouter,
  identity: identityRouter,
  llmKeys: llmKeysRouter,
  notifications: notificationsRouter,
  platformKeys: platformKeysRouter,
  projects: projectsRouter,
  reviews: reviewsRouter,
  webhooks: webhooksRouter,
  workflows: workflowsRouter,
});
export type AppRouter = typeof appRouter;

export const createCaller = createCallerFactory(appRouter);

import { agentsRouter } from "#server/api/routers/agents.ts";
import { auditRouter } from "#server/api/routers/audit.ts";
import { canvasesRouter } from "#server/api/routers/canvases.ts";
import { checksRouter } from "#server/api/routers/checks.ts";
import { credentialsRouter } from "#server/api/routers/credentials.ts";
import { executionsRouter } from "#server/api/routers/executions.ts";
import { executorRouter } from "#server/api/routers/executor.ts";
import { identityRouter } from "#server/api/routers/identity.ts";
import { installRouter } from "#server/api/routers/install.ts";
import { llmKeysRouter } from "#server/api/routers/llm-keys.ts";
import { mcpRouter } from "#server/api/routers/mcp.ts";
import { notificationsRouter } from "#server/api/routers/notifications.ts";
import { platformKeysRouter } from "#server/api/routers/platform-keys.ts";
import { projectsRouter } from "#server/api/routers/projects.ts";
import { ragsRouter } from "#server/api/routers/rags.ts";
import { reviewsRouter } from "#server/api/routers/reviews.ts";
import { skillsRouter } from "#server/api/routers/skills.ts";
import { usageRouter } from "#server/api/routers/usage.ts";
import { webhooksRouter } from "#server/api/routers/webhooks.ts";
import { workflowFilesRouter } from "#server/api/routers/workflow-files.ts";
import { workflowVersionsRouter } from "#server/api/routers/workflow-versions.ts";
import { workflowsRouter } from "#server/api/routers/workflows.ts";
import { createCallerFactory, router } from "#server/api/trpc.ts";

/** Every operation: the web UI calls it over tRPC, and those with OpenAPI metadata are the REST API. */
export const appRouter = router({
  agents: agentsRouter,
  audit: auditRouter,
  canvases: canvasesRouter,
  checks: checksRouter,
  credentials: credentialsRouter,
  executions: executionsRouter,
  executor: executorRouter,
  identity: identityRouter,
  install: installRouter,
  llmKeys: llmKeysRouter,
  mcp: mcpRouter,
  notifications: notificationsRouter,
  platformKeys: platformKeysRouter,
  projects: projectsRouter,
  rags: ragsRouter,
  reviews: reviewsRouter,
  skills: skillsRouter,
  usage: usageRouter,
  webhooks: webhooksRouter,
  workflowFiles: workflowFilesRouter,
  workflows: workflowsRouter,
  workflowVersions: workflowVersionsRouter,
});
export type AppRouter = typeof appRouter;

export const createCaller = createCallerFactory(appRouter);

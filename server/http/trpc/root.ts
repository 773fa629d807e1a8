import { agentsRouter } from "#server/features/agents/router.ts";
import { assistantRouter } from "#server/features/assistant/router.ts";
import { auditRouter } from "#server/features/audit/router.ts";
import { budgetsRouter } from "#server/features/budgets/router.ts";
import { canvasesRouter } from "#server/features/canvases/router.ts";
import { credentialsRouter } from "#server/features/credentials/router.ts";
import { emailsRouter } from "#server/features/emails/router.ts";
import { executionsRouter } from "#server/features/executions/router.ts";
import { identityRouter } from "#server/features/identity/router.ts";
import { installRouter } from "#server/features/install/router.ts";
import { ragsRouter } from "#server/features/knowledge/router.ts";
import { llmKeysRouter } from "#server/features/llm-keys/router.ts";
import { mcpRouter } from "#server/features/mcp/router.ts";
import { notificationsRouter } from "#server/features/notifications/router.ts";
import { platformKeysRouter } from "#server/features/platform-keys/router.ts";
import { projectsRouter } from "#server/features/projects/router.ts";
import { reviewsRouter } from "#server/features/reviews/router.ts";
import { searchRouter } from "#server/features/search/router.ts";
import { securityRouter } from "#server/features/security/router.ts";
import { serviceAccountsRouter } from "#server/features/service-accounts/router.ts";
import { skillsRouter } from "#server/features/skills/router.ts";
import { usageRouter } from "#server/features/usage/router.ts";
import { webhooksRouter } from "#server/features/webhooks/router.ts";
import { workflowFilesRouter } from "#server/features/workflow-files/router.ts";
import { checksRouter } from "#server/features/workflows/checks-router.ts";
import { workflowsRouter } from "#server/features/workflows/router.ts";
import { workflowVersionsRouter } from "#server/features/workflows/versions-router.ts";
import { createCallerFactory, router } from "#server/platform/rpc/trpc.ts";

/** Every operation: the web UI calls it over tRPC, and those with OpenAPI metadata are the REST API. */
export const appRouter = router({
  agents: agentsRouter,
  assistant: assistantRouter,
  audit: auditRouter,
  budgets: budgetsRouter,
  canvases: canvasesRouter,
  checks: checksRouter,
  credentials: credentialsRouter,
  emails: emailsRouter,
  executions: executionsRouter,
  identity: identityRouter,
  install: installRouter,
  llmKeys: llmKeysRouter,
  mcp: mcpRouter,
  notifications: notificationsRouter,
  platformKeys: platformKeysRouter,
  projects: projectsRouter,
  rags: ragsRouter,
  reviews: reviewsRouter,
  search: searchRouter,
  security: securityRouter,
  serviceAccounts: serviceAccountsRouter,
  skills: skillsRouter,
  usage: usageRouter,
  webhooks: webhooksRouter,
  workflowFiles: workflowFilesRouter,
  workflows: workflowsRouter,
  workflowVersions: workflowVersionsRouter,
});
export type AppRouter = typeof appRouter;

export const createCaller = createCallerFactory(appRouter);

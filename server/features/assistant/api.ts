import { agentsRouter } from "#server/features/agents/router.ts";
import { canvasesRouter } from "#server/features/canvases/router.ts";
import { credentialsRouter } from "#server/features/credentials/router.ts";
import { executionsRouter } from "#server/features/executions/router.ts";
import { ragsRouter } from "#server/features/knowledge/router.ts";
import { llmKeysRouter } from "#server/features/llm-keys/router.ts";
import { mcpRouter } from "#server/features/mcp/router.ts";
import { reviewsRouter } from "#server/features/reviews/router.ts";
import { skillsRouter } from "#server/features/skills/router.ts";
import { workflowsRouter } from "#server/features/workflows/router.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { appErrorOf, createCallerFactory, router } from "#server/platform/rpc/trpc.ts";

const createCaller = createCallerFactory(
  router({
    agents: agentsRouter,
    canvases: canvasesRouter,
    credentials: credentialsRouter,
    executions: executionsRouter,
    llmKeys: llmKeysRouter,
    mcp: mcpRouter,
    rags: ragsRouter,
    reviews: reviewsRouter,
    skills: skillsRouter,
    workflows: workflowsRouter,
  }),
);

/**
 * The procedures that everybody's calls go through, called by the assistant for somebody: with the same checks and the
 * same answers.
 * @throws AppError as they do
 */
export const api = (principal: ProjectPrincipal) =>
  createCaller(
    { principal, address: "assistant", isOnThisMachine: false, project: async () => principal },
    {
      onError({ error }) {
        throw appErrorOf(error);
      },
    },
  );

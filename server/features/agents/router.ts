import { testAgent } from "#server/features/agents/chat.ts";
import { previewPrompt } from "#server/features/agents/compose-question.ts";
import {
  Agent,
  AgentPage,
  AgentRef,
  AgentReply,
  CreateAgentInput,
  PromptPreview,
  PromptPreviewInput,
  TestAgentInput,
  UpdateAgentInput,
} from "#server/features/agents/schema.ts";
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from "#server/features/agents/service.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "Agents";
const live =
  "Saving makes one live call with the key and model; when it fails the answer is 502 with the provider's message and nothing is saved.";

export const agentsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/agents", { tag, summary: "List the agents" }))
    .input(ListInput)
    .output(AgentPage)
    .query(({ ctx, input }) => listAgents(ctx.principal, input)),
  create: editorProcedure
    .meta(endpoint("POST", "/agents", { tag, summary: "Create an agent", description: live, status: 201 }))
    .input(CreateAgentInput)
    .output(Agent)
    .mutation(({ ctx, input }) => createAgent(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/agents/{agent_id}", { tag, summary: "Read an agent" }))
    .input(AgentRef)
    .output(Agent)
    .query(({ ctx, input }) => getAgent(ctx.principal, input)),
  update: editorProcedure
    .meta(endpoint("PUT", "/agents/{agent_id}", { tag, summary: "Change an agent", description: live }))
    .input(UpdateAgentInput)
    .output(Agent)
    .mutation(({ ctx, input }) => updateAgent(ctx.principal, input)),
  delete: editorProcedure
    .meta(
      endpoint("DELETE", "/agents/{agent_id}", {
        tag,
        summary: "Delete an agent",
        description: "409 while a workflow uses it.",
        status: 204,
      }),
    )
    .input(AgentRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteAgent(ctx.principal, input)),
  test: editorProcedure
    .meta(
      endpoint("POST", "/agents/{agent_id}/test", {
        tag,
        summary: "Ask an agent once",
        description: "Waits for the whole answer.",
        runs: true,
      }),
    )
    .input(TestAgentInput)
    .output(AgentReply)
    .mutation(({ ctx, input }) => testAgent(ctx.principal, input)),
  /** For the agent's page; not part of the REST API. */
  promptPreview: viewerProcedure
    .input(PromptPreviewInput)
    .output(PromptPreview)
    .query(({ ctx, input }) => previewPrompt(ctx.principal, input)),
});

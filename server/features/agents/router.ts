import { testAgent } from "#server/features/agents/chat.ts";
import { previewPrompt } from "#server/features/agents/compose-question.ts";
import {
  Agent,
  AgentPage,
  AgentRef,
  AgentReply,
  AgentVersion,
  AgentVersionPage,
  AgentVersionRef,
  AgentWorkflowPage,
  CreateAgentInput,
  ListAgentVersionsInput,
  ListAgentWorkflowsInput,
  MOST_VERSIONS,
  NEWEST_VERSIONS,
  PromptPreview,
  PromptPreviewInput,
  TestAgentInput,
  UpdateAgentInput,
  UpdatedAgent,
} from "#server/features/agents/schema.ts";
import {
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  listAgentWorkflows,
  restoreAgentVersion,
  updateAgent,
} from "#server/features/agents/service.ts";
import { getAgentVersion, listAgentVersions } from "#server/features/agents/versions.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "Agents";
const live =
  "Saving makes one live call with the key and model; when it fails the answer is 502 with the provider's message and nothing is saved.";
const renames =
  "A new name is written into every expression and condition that reads the agent, in saved versions and drafts; `workflows_changed` lists those workflows. 409 with the texts that cannot follow, and nothing is changed then.";

export const agentsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/agents", { tag, summary: "List the agents" }))
    .input(ListInput)
    .meta({ isLarge: true })
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
    .meta(endpoint("PUT", "/agents/{agent_id}", { tag, summary: "Change an agent", description: `${renames} ${live}` }))
    .input(UpdateAgentInput)
    .output(UpdatedAgent)
    .mutation(({ ctx, input }) => updateAgent(ctx.principal, input)),
  versions: viewerProcedure
    .meta(
      endpoint("GET", "/agents/{agent_id}/versions", {
        tag,
        summary: "List an agent's versions",
        description: `Each save is one: who made it, when, and what it changed; newest first. The newest ${NEWEST_VERSIONS} are kept, and older ones that have answered in a run, ${MOST_VERSIONS} in all.`,
      }),
    )
    .input(ListAgentVersionsInput)
    .meta({ isLarge: true })
    .output(AgentVersionPage)
    .query(({ ctx, input }) => listAgentVersions(ctx.principal, input)),
  version: viewerProcedure
    .meta(endpoint("GET", "/agents/{agent_id}/versions/{version}", { tag, summary: "Read a version of an agent, with what it was then" }))
    .input(AgentVersionRef)
    .output(AgentVersion)
    .query(({ ctx, input }) => getAgentVersion(ctx.principal, input)),
  restore: editorProcedure
    .meta(
      endpoint("POST", "/agents/{agent_id}/versions/{version}/restore", {
        tag,
        summary: "Restore a version of an agent",
        description: `Makes the next version of it. The name stays, since workflows read answers by it. ${live}`,
      }),
    )
    .input(AgentVersionRef)
    .output(Agent)
    .mutation(({ ctx, input }) => restoreAgentVersion(ctx.principal, input)),
  workflows: viewerProcedure
    .meta(
      endpoint("GET", "/agents/{agent_id}/workflows", {
        tag,
        summary: "List the workflows that use an agent",
        description: "In their saved version or their draft, by name: what a change of the agent reaches.",
      }),
    )
    .input(ListAgentWorkflowsInput)
    .output(AgentWorkflowPage)
    .query(({ ctx, input }) => listAgentWorkflows(ctx.principal, input)),
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

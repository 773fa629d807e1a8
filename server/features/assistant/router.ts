import { acceptProposal, getProposal, openProposals, rejectProposal } from "#server/features/assistant/proposals.ts";
import { answerQuestion, decideConfirmation } from "#server/features/assistant/requests.ts";
import {
  AcceptedProposal,
  AcceptProposalInput,
  AnswerQuestionInput,
  AssistantSettings,
  CreateThreadInput,
  DecideConfirmationInput,
  DecidedRequest,
  OpenProposals,
  Proposal,
  ProposalRef,
  RenameThreadInput,
  SendMessageInput,
  SentMessage,
  StopInput,
  Thread,
  ThreadPage,
  ThreadRef,
  ThreadSummary,
  UpdateAssistantSettingsInput,
} from "#server/features/assistant/schema.ts";
import { getSettings, updateSettings } from "#server/features/assistant/settings.ts";
import {
  createThread,
  deleteThread,
  getThread,
  listThreads,
  renameThread,
  sendMessage,
  stopThread,
} from "#server/features/assistant/threads.ts";
import { WorkflowRef } from "#server/features/workflows/schema.ts";
import { adminProcedure, editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, Nothing, PageInput } from "#server/shared/primitives-schema.ts";

/** The web app's own: an API key opens none of it. */
const own = { tag: "Assistant", sessionOnly: true } as const;

/** The assistant of the web app (contract, section 8). Threads are personal: who may not change anything may still ask. */
export const assistantRouter = router({
  settings: viewerProcedure
    .meta(endpoint("GET", "/bridge/settings", { ...own, summary: "What the project's assistant works on" }))
    .input(Nothing)
    .output(AssistantSettings)
    .query(({ ctx }) => getSettings(ctx.principal)),
  updateSettings: adminProcedure
    .meta(endpoint("PUT", "/bridge/settings", { ...own, summary: "Choose what the project's assistant works on" }))
    .input(UpdateAssistantSettingsInput)
    .output(AssistantSettings)
    .mutation(({ ctx, input }) => updateSettings(ctx.principal, input)),
  threads: viewerProcedure
    .meta(endpoint("GET", "/bridge/threads", { ...own, summary: "List my threads" }))
    .input(PageInput)
    .output(ThreadPage)
    .query(({ ctx, input }) => listThreads(ctx.principal, input)),
  createThread: viewerProcedure
    .meta(endpoint("POST", "/bridge/threads", { ...own, summary: "Begin a thread", status: 201 }))
    .input(CreateThreadInput)
    .output(ThreadSummary)
    .mutation(({ ctx, input }) => createThread(ctx.principal, input)),
  thread: viewerProcedure
    .meta(endpoint("GET", "/bridge/threads/{thread_id}", { ...own, summary: "Read a thread" }))
    .input(ThreadRef)
    .meta({ isLarge: true })
    .output(Thread)
    .query(({ ctx, input }) => getThread(ctx.principal, input)),
  renameThread: viewerProcedure
    .meta(endpoint("PATCH", "/bridge/threads/{thread_id}", { ...own, summary: "Rename a thread" }))
    .input(RenameThreadInput)
    .output(ThreadSummary)
    .mutation(({ ctx, input }) => renameThread(ctx.principal, input)),
  deleteThread: viewerProcedure
    .meta(endpoint("DELETE", "/bridge/threads/{thread_id}", { ...own, summary: "Delete a thread", status: 204 }))
    .input(ThreadRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteThread(ctx.principal, input)),
  send: viewerProcedure
    .meta(endpoint("POST", "/bridge/threads/{thread_id}/messages", { ...own, summary: "Write a message", status: 202 }))
    .input(SendMessageInput)
    .output(SentMessage)
    .mutation(({ ctx, input }) => sendMessage(ctx.principal, input)),
  stop: viewerProcedure
    .meta(endpoint("POST", "/bridge/threads/{thread_id}/stop", { ...own, summary: "Stop the work on a thread", isIdempotent: false }))
    .input(StopInput)
    .output(ThreadSummary)
    .mutation(({ ctx, input }) => stopThread(ctx.principal, input)),
  answer: viewerProcedure
    .meta(endpoint("POST", "/bridge/questions/{question_id}", { ...own, summary: "Answer a question" }))
    .input(AnswerQuestionInput)
    .output(DecidedRequest)
    .mutation(({ ctx, input }) => answerQuestion(ctx.principal, input)),
  decide: viewerProcedure
    .meta(endpoint("POST", "/bridge/confirmations/{confirmation_id}", { ...own, summary: "Approve or reject what the assistant would do" }))
    .input(DecideConfirmationInput)
    .output(DecidedRequest)
    .mutation(({ ctx, input }) => decideConfirmation(ctx.principal, input)),
  proposals: viewerProcedure
    .meta(endpoint("GET", "/bridge/workflows/{workflow_id}/proposals", { ...own, summary: "List the proposals that wait for me" }))
    .input(WorkflowRef)
    .meta({ isLarge: true })
    .output(OpenProposals)
    .query(({ ctx, input }) => openProposals(ctx.principal, input)),
  getProposal: viewerProcedure
    .meta(endpoint("GET", "/bridge/proposals/{proposal_id}", { ...own, summary: "Read a proposal" }))
    .input(ProposalRef)
    .meta({ isLarge: true })
    .output(Proposal)
    .query(({ ctx, input }) => getProposal(ctx.principal, input)),
  acceptProposal: editorProcedure
    .meta(
      endpoint("POST", "/bridge/proposals/{proposal_id}/accept", {
        ...own,
        summary: "Accept a proposal",
        description: "Merges it into the draft as it is now; 409 with what both changed when that cannot be.",
      }),
    )
    .input(AcceptProposalInput)
    .output(AcceptedProposal)
    .mutation(({ ctx, input }) => acceptProposal(ctx.principal, input)),
  rejectProposal: editorProcedure
    .meta(endpoint("POST", "/bridge/proposals/{proposal_id}/reject", { ...own, summary: "Reject a proposal" }))
    .input(ProposalRef)
    .meta({ isLarge: true })
    .output(Proposal)
    .mutation(({ ctx, input }) => rejectProposal(ctx.principal, input)),
});

import { editorProcedure, endpoint, router, viewerProcedure } from "#server/api/trpc.ts";
import { ExecuteResult } from "#server/schemas/execution.ts";
import { ReplayDeliveryInput, WebhookRef, WebhookSetup, WebhookState } from "#server/schemas/webhook.ts";
import { getWebhookState } from "#server/services/webhooks/get-webhook-state.ts";
import { replayDelivery } from "#server/services/webhooks/replay-delivery.ts";
import { setupWebhook } from "#server/services/webhooks/setup-webhook.ts";

export const webhooksRouter = router({
  setup: editorProcedure
    .meta(
      endpoint("POST", "/webhooks/setup/{workflow_id}", {
        tag: "Webhooks",
        summary: "Set up a workflow's webhook",
        description: "Gives its address and a new secret, which is shown only now. Called again it replaces the secret.",
      }),
    )
    .input(WebhookRef)
    .output(WebhookSetup)
    .mutation(({ ctx, input }) => setupWebhook(ctx.principal, input)),
  // The trigger's panel in the editor.
  state: viewerProcedure
    .input(WebhookRef)
    .output(WebhookState)
    .query(({ ctx, input }) => getWebhookState(ctx.principal, input)),
  replay: editorProcedure
    .input(ReplayDeliveryInput)
    .output(ExecuteResult)
    .mutation(({ ctx, input }) => replayDelivery(ctx.principal, input)),
});

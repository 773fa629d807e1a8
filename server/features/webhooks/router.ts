import { replayDelivery } from "#server/features/webhooks/deliveries.ts";
import { listenToWebhook } from "#server/features/webhooks/listen.ts";
import {
  ListenInput,
  ReplayDeliveryInput,
  SetupWebhookInput,
  WebhookRef,
  WebhookSetup,
  WebhookState,
} from "#server/features/webhooks/schema.ts";
import { getWebhookState, setupWebhook } from "#server/features/webhooks/service.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ExecuteResult } from "#server/runs/schema.ts";
import { NoContent } from "#server/shared/primitives-schema.ts";

export const webhooksRouter = router({
  setup: editorProcedure
    .meta(
      endpoint("POST", "/webhooks/setup/{workflow_id}", {
        tag: "Webhooks",
        summary: "Set up a workflow's webhook",
        description:
          "Gives its address and a new secret, which is shown only now. Called again it replaces the secret. Where the sender makes the secret (Stripe, Slack), give that as `webhook_secret`.",
      }),
    )
    .input(SetupWebhookInput)
    .output(WebhookSetup)
    .mutation(({ ctx, input }) => setupWebhook(ctx.principal, input)),
  // The trigger's panel in the editor.
  state: viewerProcedure
    .input(WebhookRef)
    .output(WebhookState)
    .query(({ ctx, input }) => getWebhookState(ctx.principal, input)),
  listen: editorProcedure
    .input(ListenInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => listenToWebhook(ctx.principal, input)),
  replay: editorProcedure
    .input(ReplayDeliveryInput)
    .output(ExecuteResult)
    .mutation(({ ctx, input }) => replayDelivery(ctx.principal, input)),
});

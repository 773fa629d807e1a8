import { MarkReadInput, NotificationPage } from "#server/features/notifications/schema.ts";
import { listNotifications, markRead } from "#server/features/notifications/service.ts";
import { endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, PageInput } from "#server/shared/primitives-schema.ts";

export const notificationsRouter = router({
  list: viewerProcedure
    .meta(
      endpoint("GET", "/notifications", {
        tag: "Identity",
        summary: "What I am told of",
        description:
          "Reviews that wait, runs that have failed (one entry for each workflow and hour), schedules that were missed while nothing ran, and workflows that another member disabled; unread ones first.",
      }),
    )
    .input(PageInput)
    .output(NotificationPage)
    .query(({ ctx, input }) => listNotifications(ctx.principal, input)),
  markRead: viewerProcedure
    .input(MarkReadInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => markRead(ctx.principal, input)),
});

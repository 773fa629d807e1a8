import { MarkReadInput, NotificationPage } from "#server/features/notifications/schema.ts";
import { listNotifications, markRead } from "#server/features/notifications/service.ts";
import { router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, PageInput } from "#server/shared/primitives-schema.ts";

// The web UI only: what the signed-in person is told of in the current project.
export const notificationsRouter = router({
  list: viewerProcedure
    .input(PageInput)
    .output(NotificationPage)
    .query(({ ctx, input }) => listNotifications(ctx.principal, input)),
  markRead: viewerProcedure
    .input(MarkReadInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => markRead(ctx.principal, input)),
});

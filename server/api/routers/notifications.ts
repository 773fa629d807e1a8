import { router, viewerProcedure } from "#server/api/trpc.ts";
import { MarkReadInput, NotificationPage } from "#server/schemas/notification.ts";
import { NoContent, PageInput } from "#server/schemas/primitives.ts";
import { listNotifications } from "#server/services/notifications/list-notifications.ts";
import { markRead } from "#server/services/notifications/mark-read.ts";

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

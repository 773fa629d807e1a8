import type { Notification as NotificationRow } from "#prisma/generated/client.ts";
import type { Notification, NotificationPage } from "#server/features/notifications/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { PageInput } from "#server/shared/primitives-schema.ts";

const notificationDto = ({ id, kind, title, link, read_at, created_at }: NotificationRow): Notification => ({
  id,
  kind: kind as Notification["kind"],
  title,
  link,
  read_at: read_at?.toISOString() ?? null,
  created_at: created_at.toISOString(),
});

/** What the principal was told of in this project: unread first, newest first among those. */
export async function listNotifications({ user, project }: ProjectPrincipal, input: PageInput): Promise<NotificationPage> {
  const where = { user_id: user.id, project_id: project.id };
  const [total, unread, rows] = await Promise.all([
    db().notification.count({ where }),
    db().notification.count({ where: { ...where, read_at: null } }),
    db().notification.findMany({
      where,
      orderBy: [{ read_at: { sort: "desc", nulls: "first" } }, { id: "desc" }],
      ...pageWindow(input),
    }),
  ]);
  return { ...paged(input, [total, rows], notificationDto), unread };
}

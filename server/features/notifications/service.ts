import type { Notification as NotificationRow } from "#prisma/generated/client.ts";
import {
  choicesOf,
  type MarkReadInput,
  type Notification,
  NotificationKind,
  type NotificationPage,
} from "#server/features/notifications/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
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

/** What the principal wants to be told of in the app in this project: unread first, newest first among those. */
export async function listNotifications({ user, project }: ProjectPrincipal, input: PageInput): Promise<NotificationPage> {
  const { notification_choices } = await db().user.findUniqueOrThrow({ where: { id: user.id }, select: { notification_choices: true } });
  const choices = choicesOf(notification_choices);
  const hidden = NotificationKind.options.filter((kind) => !choices[kind].in_app);
  const where = { user_id: user.id, project_id: project.id, kind: { notIn: hidden } };
  const [total, unread, failures, rows] = await Promise.all([
    db().notification.count({ where }),
    db().notification.count({ where: { ...where, read_at: null } }),
    db().notification.count({ where: { ...where, read_at: null, kind: { in: ["run_failed"], notIn: hidden } } }),
    db().notification.findMany({
      where,
      orderBy: [{ read_at: { sort: "desc", nulls: "first" } }, { id: "desc" }],
      ...pageWindow(input),
    }),
  ]);
  return { ...paged(input, [total, rows], notificationDto), unread, failures };
}

/** Marks notifications of the principal in this project as read: these, those of a kind, or all. Others' and unknown ones are left alone. */
export async function markRead({ user, project }: ProjectPrincipal, { ids, kind }: MarkReadInput): Promise<void> {
  await db().notification.updateMany({
    where: {
      user_id: user.id,
      project_id: project.id,
      read_at: null,
      ...(ids && { id: { in: ids.filter(isUuid) } }),
      ...(kind && { kind }),
    },
    data: { read_at: new Date() },
  });
}

/** How long a notification is kept, in days: one that was read, and one that never was. */
const KEPT = { read: 30, unread: 90 };
/** How long an invitation is kept after it has expired, so that whoever opens it late is told, in days. */
const EXPIRED_INVITATION = 30;
const BATCH = 1000;

const STATEMENTS = [
  `DELETE FROM notifications WHERE id IN (SELECT id FROM notifications
     WHERE read_at < now() - interval '${KEPT.read} days' OR created_at < now() - interval '${KEPT.unread} days' LIMIT ${BATCH})`,
  `DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < now() - interval '${EXPIRED_INVITATION} days' LIMIT ${BATCH})`,
];

/** Removes notifications and invitations that nobody needs any more, in small batches. */
export async function tidyNotifications(): Promise<void> {
  for (const statement of STATEMENTS) {
    let count = BATCH;
    while (count === BATCH) count = (await pool().query(statement)).rowCount ?? 0;
  }
}

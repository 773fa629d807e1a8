import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

/** Marks notifications of the principal in this project as read: these, or all. Others' and unknown ones are left alone. */
export async function markRead({ user, project }: ProjectPrincipal, { ids }: { ids?: string[] | undefined }): Promise<void> {
  await db().notification.updateMany({
    where: { user_id: user.id, project_id: project.id, read_at: null, ...(ids && { id: { in: ids.filter(isUuid) } }) },
    data: { read_at: new Date() },
  });
}

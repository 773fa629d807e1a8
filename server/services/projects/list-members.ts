import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import type { Member, ProjectRef } from "#server/schemas/project.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { memberOf } from "#server/services/projects/member-of.ts";

/** The members of a project, newest first. @throws AppError NOT_FOUND for a project the user is not in */
export async function listMembers(
  principal: Principal,
  { project_id, ...page }: z.infer<typeof ProjectRef> & PageInput,
): Promise<Page<z.infer<typeof Member>>> {
  await memberOf(principal, project_id, "viewer");
  const where = { project_id };
  const result = await Promise.all([
    db().membership.count({ where }),
    db().membership.findMany({
      where,
      include: { user: { select: { email: true, name: true } } },
      orderBy: [{ created_at: "desc" }, { user_id: "desc" }],
      ...pageWindow(page),
    }),
  ]);
  return paged(page, result, ({ user_id, user, role, created_at }) => ({ user_id, ...user, role, created_at: created_at.toISOString() }));
}

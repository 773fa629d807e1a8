import { MOST_VIEWS, type RunView, type SaveViewInput } from "#server/features/executions/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

const mine = ({ user, project }: ProjectPrincipal) => ({ user_id: user.id, project_id: project.id });
const fields = { id: true, name: true, query: true } as const;

/** The views that the principal keeps in this project, by name. */
export const listViews = (principal: ProjectPrincipal): Promise<RunView[]> =>
  db().runView.findMany({ where: mine(principal), select: fields, orderBy: { name: "asc" }, take: MOST_VIEWS });

/**
 * Keeps filters under a name, in the place of what had that name.
 * @throws AppError CONFLICT when there are as many as may be
 */
export async function saveView(principal: ProjectPrincipal, { name, query }: SaveViewInput): Promise<RunView> {
  const key = { ...mine(principal), name };
  const others = await db().runView.count({ where: { ...mine(principal), name: { not: name } } });
  if (others >= MOST_VIEWS) throw new AppError("CONFLICT", `You have ${MOST_VIEWS} views here, as many as may be. Delete one first.`);
  return db().runView.upsert({ where: { project_id_user_id_name: key }, create: { ...key, query }, update: { query }, select: fields });
}

/** @throws AppError NOT_FOUND for one that is not the principal's */
export async function deleteView(principal: ProjectPrincipal, { view_id }: { view_id: string }): Promise<void> {
  const { count } = isUuid(view_id) ? await db().runView.deleteMany({ where: { ...mine(principal), id: view_id } }) : { count: 0 };
  if (!count) throw notFound("view");
}

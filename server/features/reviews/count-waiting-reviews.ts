import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";

/** How many reviews of the project wait for somebody. */
export const countWaitingReviews = async ({ project }: ProjectPrincipal): Promise<{ count: number }> => ({
  count: await db().wait.count({ where: { project_id: project.id, reason: "review", status: "waiting" } }),
});

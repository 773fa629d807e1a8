import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import type { ProjectRef } from "#server/schemas/project.ts";
import { closeProject, tellOfStopped } from "#server/services/projects/close-project.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { removeDeletedProject } from "#server/services/projects/remove-deleted-projects.ts";

/** How long the caller waits for the rows to go; what is left then is removed in the background. */
const WAIT_MS = 3000;

/**
 * Deletes a project with everything in it. It is gone for everybody at once: runs under way are cancelled and their model
 * calls stop, schedules fire no more, the webhooks answer 401. Its audit log goes too, so the deletion itself is told in the
 * service's own log.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin
 */
export async function deleteProject(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<void> {
  const { project, user } = await memberOf(principal, project_id, "admin");
  const stopped = await db().$transaction((tx) => closeProject(tx, project_id), { timeout: 60_000 });
  log.info({ project_id, name: project.name, user_id: user.id, stopped: stopped.length }, "project deleted");
  await tellOfStopped(stopped);
  const until = performance.now() + WAIT_MS;
  await removeDeletedProject(project_id, () => performance.now() < until).catch((error) =>
    log.warn({ err: error, project_id }, "the rows of a deleted project are still there; they are removed within the hour"),
  );
}

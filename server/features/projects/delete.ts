import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { memberOf } from "#server/features/projects/members.ts";
import type { ProjectRef } from "#server/features/projects/schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { deleteExecutions } from "#server/runs/store/delete-executions.ts";
import { cancelRunsOf } from "#server/runs/store/end.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";

/**
 * Ends a project at once, within the transaction: its runs are cancelled, its schedules and webhooks are gone, nobody is a
 * member or invited any more, its secrets are deleted. Its rows are removed afterwards, however many they are.
 * @returns ids of the executions that were cancelled, for `dispatchCancels` after the transaction
 */
export async function closeProject(tx: Prisma.TransactionClient, project_id: string): Promise<string[]> {
  const inProject = { where: { project_id } };
  // Nobody gets in from here on: who is in is asked of the memberships, at every request.
  await tx.project.update({ where: { id: project_id }, data: { deleted_at: new Date(), owner_id: null } });
  await tx.membership.deleteMany(inProject);
  await tx.invitation.deleteMany(inProject);
  await tx.schedule.deleteMany({ where: { workflow: { project_id } } });
  await tx.webhook.deleteMany({ where: { workflow: { project_id } } });
  // Waits for runs that are being written; an update alone does not.
  await tx.$queryRaw`SELECT FROM workflows WHERE project_id = ${project_id}::uuid ORDER BY id FOR UPDATE`;
  await tx.workflow.updateMany({ where: { project_id, deleted_at: null }, data: { deleted_at: new Date(), enabled: false } });
  const stopped = await cancelRunsOf(tx, project_id);
  await tx.notification.deleteMany(inProject);
  await tx.assistantThread.deleteMany(inProject);
  await tx.assistantSettings.deleteMany(inProject);
  await tx.agent.deleteMany(inProject);
  await tx.llmKey.deleteMany(inProject);
  await tx.credential.deleteMany(inProject);
  await tx.mcpServer.deleteMany(inProject);
  // Its documents may be many; they go with the other rows.
  await tx.ragSource.updateMany({ ...inProject, data: { sealed_secrets: null } });
  await tx.idempotencyKey.deleteMany(inProject);
  return stopped;
}

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
  dispatchCancels(stopped);
  await removeClosedProject(project_id);
}

/** Removes the rows of a closed project for up to three seconds. A job removes the rest within the hour. */
export async function removeClosedProject(project_id: string): Promise<void> {
  const until = performance.now() + WAIT_MS;
  await removeDeletedProject(project_id, () => performance.now() < until).catch((error) =>
    log.warn({ err: error, project_id }, "the rows of a deleted project are still there; they are removed within the hour"),
  );
}

/** Later than any execution. */
const EVER = new Date("9999-01-01T00:00:00Z");

/**
 * Removes the rows of a project that nobody is in any more: executions in small transactions, then what may not lose what it
 * points to (a version its graph, an agent its key), then the project with the rest.
 * @returns whether it is gone
 */
export async function removeDeletedProject(project_id: string, goOn: () => boolean): Promise<boolean> {
  // One that started in the very moment of the deletion has no end of its own.
  await db().$transaction((tx) => cancelRunsOf(tx, project_id));
  if (!(await deleteExecutions(project_id, EVER, goOn)).isDone) return false;
  await db().$transaction(
    async (tx) => {
      await tx.workflowVersion.deleteMany({ where: { workflow: { project_id } } });
      await tx.agent.deleteMany({ where: { project_id } });
      await tx.project.deleteMany({ where: { id: project_id, deleted_at: { not: null } } });
    },
    { timeout: 120_000 },
  );
  log.info({ project_id }, "the rows of a deleted project are gone");
  return true;
}

/** Goes on with whatever deleted project has rows left. @returns whether all are gone */
export async function removeDeletedProjects(goOn: () => boolean): Promise<boolean> {
  const projects = await db().project.findMany({
    where: { deleted_at: { not: null } },
    select: { id: true },
    orderBy: { deleted_at: "asc" },
  });
  for (const { id } of projects) if (!(await removeDeletedProject(id, goOn))) return false;
  return true;
}

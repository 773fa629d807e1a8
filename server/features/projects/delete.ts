import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { executionCancelled } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { memberOf } from "#server/features/projects/members.ts";
import type { ProjectRef } from "#server/features/projects/schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { deleteExecutions } from "#server/runs/use-cases/delete-executions.ts";

/** How many events go out together. */
const AT_ONCE = 100;

/**
 * Ends a project at once, within the transaction: its runs are cancelled, its schedules and webhooks are gone, nobody is a
 * member or invited any more, its secrets are deleted. Its rows are removed afterwards, however many they are.
 * @returns ids of the executions that were cancelled, for `tellOfStopped` after the transaction
 */
export async function closeProject(tx: Prisma.TransactionClient, project_id: string): Promise<string[]> {
  const inProject = { where: { project_id } };
  // Nobody gets in from here on: who is in is asked of the memberships, at every request.
  await tx.project.update({ where: { id: project_id }, data: { deleted_at: new Date(), owner_id: null } });
  await tx.membership.deleteMany(inProject);
  await tx.invitation.deleteMany(inProject);
  await tx.schedule.deleteMany({ where: { workflow: { project_id } } });
  await tx.webhook.deleteMany({ where: { workflow: { project_id } } });
  await tx.workflow.updateMany({ where: { project_id, deleted_at: null }, data: { deleted_at: new Date(), enabled: false } });
  const stopped = await stopExecutions(tx, project_id);
  await tx.notification.deleteMany(inProject);
  await tx.agent.deleteMany(inProject);
  await tx.llmKey.deleteMany(inProject);
  await tx.credential.deleteMany(inProject);
  await tx.mcpServer.deleteMany(inProject);
  // Its documents may be many; they go with the other rows.
  await tx.ragSource.updateMany({ ...inProject, data: { sealed_secrets: null } });
  await tx.idempotencyKey.deleteMany(inProject);
  return stopped;
}

/** Tells the executor of runs that were cancelled with their project; those that it is not told of find themselves ended. */
export async function tellOfStopped(executionIds: readonly string[]): Promise<void> {
  for (let from = 0; from < executionIds.length; from += AT_ONCE) {
    const events = executionIds
      .slice(from, from + AT_ONCE)
      .map((execution_id) => executionCancelled.create({ execution_id }, { id: `${execution_id}-cancelled` }));
    await publishEvents(events);
  }
}

/**
 * Cancels every execution of a project that has not ended: its lease is taken away, whatever process carries it is told and
 * aborts the model calls under way, and so are those who follow it.
 * @returns their ids
 */
export async function stopExecutions(within: Prisma.TransactionClient, project_id: string): Promise<string[]> {
  const stopped = await within.$queryRaw<{ id: string }[]>`
    WITH stopped AS (
      UPDATE executions SET status = 'cancelled', completed_at = now(), lease_epoch = lease_epoch + 1, lease_until = NULL, run_at = NULL
      WHERE project_id = ${project_id}::uuid AND status IN ('pending', 'queued', 'running', 'paused') RETURNING id
    ), withdrawn AS (
      UPDATE waits SET status = 'withdrawn', resolved_at = now() FROM stopped WHERE execution_id = stopped.id AND waits.status = 'waiting'
    ), told AS MATERIALIZED (
      SELECT id, pg_notify('treadle_control', id::text), pg_notify('treadle_execution', id::text) FROM stopped
    )
    SELECT id FROM told`;
  return stopped.map(({ id }) => id);
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
  await tellOfStopped(stopped);
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
  await db().$transaction((tx) => stopExecutions(tx, project_id));
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

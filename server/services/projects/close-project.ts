import type { Prisma } from "#prisma/generated/client.ts";
import { executionCancelled } from "#server/inngest/events.ts";
import { tellExecutor } from "#server/services/executor/send-events.ts";
import { stopExecutions } from "#server/services/projects/stop-executions.ts";

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
    await tellExecutor(events);
  }
}

import type { Prisma } from "#prisma/generated/client.ts";
import { endShareLinks } from "#server/features/canvases/share-links.ts";
import { randomToken, seal } from "#server/platform/secrets.ts";

/** Ends service accounts: their keys are refused from the next request on, and their names stay on what they did. */
export async function endServiceAccounts(tx: Prisma.TransactionClient, ids: readonly string[]): Promise<void> {
  if (!ids.length) return;
  const where = { user_id: { in: [...ids] } };
  await tx.platformKey.deleteMany({ where });
  await tx.membership.deleteMany({ where });
  await tx.notification.deleteMany({ where });
  await tx.idempotencyKey.deleteMany({ where });
  await tx.$executeRaw`UPDATE users SET email = 'deleted-' || id, deleted_at = now() WHERE id = ANY(${ids}::uuid[])`;
}

/**
 * Ends each way into projects other than membership: service accounts, share links and open invitations.
 * @returns how many service accounts and share links there were
 */
export async function closeAccess(
  tx: Prisma.TransactionClient,
  project_ids: readonly string[],
): Promise<{ service_accounts: number; share_links: number }> {
  if (!project_ids.length) return { service_accounts: 0, share_links: 0 };
  const project_id = { in: [...project_ids] };
  const accounts = await tx.user.findMany({ where: { service_project_id: project_id, deleted_at: null }, select: { id: true } });
  await endServiceAccounts(
    tx,
    accounts.map(({ id }) => id),
  );
  const share_links = await endShareLinks(tx, { project_id });
  await tx.invitation.deleteMany({ where: { project_id, accepted_at: null } });
  return { service_accounts: accounts.length, share_links };
}

/** Turns off the workflows of a project and replaces their webhook secrets, so that nothing starts before a member has checked them. */
export async function turnOffWorkflows(tx: Prisma.TransactionClient, project_id: string): Promise<void> {
  const ofWorkflow = { workflow: { project_id } };
  await tx.workflow.updateMany({ where: { project_id, deleted_at: null }, data: { enabled: false } });
  await tx.schedule.updateMany({ where: ofWorkflow, data: { active: false, next_fire_at: null } });
  const sealed_secret = seal(randomToken());
  await tx.webhook.updateMany({ where: ofWorkflow, data: { sealed_secret, rotated_at: new Date(), listen_until: null } });
}

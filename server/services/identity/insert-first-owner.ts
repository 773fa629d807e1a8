import type { Prisma, Project, User } from "#prisma/generated/client.ts";
import { db } from "#server/db/client.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { insertAccount, type NewAccount } from "#server/services/identity/insert-account.ts";
import { insertProject } from "#server/services/projects/insert-project.ts";

/** Any number that nothing else locks on. */
const FIRST_OWNER_LOCK = 7_308_313;

/** The project that a new account starts in. */
export async function insertFirstProject(tx: Prisma.TransactionClient, user: User): Promise<Project> {
  const project = await insertProject(tx, user.id, { name: "My project" });
  const resource = { resource_type: "project", resource_id: project.id, resource_name: project.name };
  await recordAudit({ user, auth: { type: "session" }, project }, { action: "project.create", ...resource }, tx);
  return project;
}

/** Whether anybody has an account here. */
export const hasOwner = async (within: Pick<Prisma.TransactionClient, "user"> = db()): Promise<boolean> =>
  (await within.user.findFirst({ where: { deleted_at: null }, select: { id: true } })) !== null;

/**
 * Adds the owner of an empty install with a first project; null when there is a user already. Of several callers at
 * once, in whichever process, one succeeds. The address is taken as verified: whoever runs the machine says that it is theirs.
 */
export async function insertFirstOwner(
  tx: Prisma.TransactionClient,
  account: Pick<NewAccount, "email" | "name" | "password_hash" | "made_through">,
): Promise<{ user: User; project: Project } | null> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${FIRST_OWNER_LOCK}::bigint)`;
  if (await hasOwner(tx)) return null;
  const { id } = await insertAccount(tx, { ...account, is_verified: true });
  const user = await tx.user.update({ where: { id }, data: { is_install_admin: true } });
  return { user, project: await insertFirstProject(tx, user) };
}

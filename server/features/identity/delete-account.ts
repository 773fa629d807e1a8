import type { Prisma } from "#prisma/generated/client.ts";
import { leaveAllPutAside } from "#server/features/identity/put-aside.ts";
import type { AccountDeletion, DeleteAccountInput } from "#server/features/identity/schema.ts";
import { keepAnInstallAdmin } from "#server/features/install/service.ts";
import { closeProject, removeDeletedProject } from "#server/features/projects/delete.ts";
import { handOver } from "#server/features/projects/members.ts";
import { dropSecondFactor } from "#server/features/security/second-factor.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { namesInUse } from "#server/platform/audit/resources.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isPassword } from "#server/platform/secrets.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";

export interface AccountProjects {
  /** Nobody else is in them. */
  alone: { id: string; name: string }[];
  /** Others are in them, and this user is the only admin. */
  last_admin: { id: string; name: string }[];
  /** They can do without this user. */
  shared: { id: string; name: string }[];
}

/** The user's projects by what would become of them without the user, by name. */
export async function accountProjects(within: Pick<Prisma.TransactionClient, "membership">, user_id: string): Promise<AccountProjects> {
  const memberships = await within.membership.findMany({
    where: { user_id },
    select: {
      // A service account is nobody who could go on with a project.
      project: {
        select: {
          id: true,
          name: true,
          memberships: { where: { user: { service_project_id: null } }, select: { user_id: true, role: true } },
        },
      },
    },
    orderBy: { project: { name: "asc" } },
  });
  const projects: AccountProjects = { alone: [], last_admin: [], shared: [] };
  for (const { project } of memberships) {
    const others = project.memberships.filter((member) => member.user_id !== user_id);
    const kind = others.length === 0 ? "alone" : others.some(({ role }) => role === "admin") ? "shared" : "last_admin";
    projects[kind].push({ id: project.id, name: project.name });
  }
  return projects;
}

/** What deleting the caller's account would come to. */
export async function getAccountDeletion({ user }: Principal): Promise<AccountDeletion> {
  const [{ password_hash }, projects] = await Promise.all([
    db().user.findUniqueOrThrow({ where: { id: user.id }, select: { password_hash: true } }),
    accountProjects(db(), user.id),
  ]);
  return { has_password: password_hash !== null, ...projects };
}

/** How long the caller waits for the rows of deleted projects to go; what is left is removed in the background. */
const WAIT_MS = 3000;

/** That it is really the owner of the account who asks. */
async function assertMeant({ user, auth }: Principal, { password, confirm_email }: DeleteAccountInput): Promise<void> {
  const { password_hash } = await db().user.findUniqueOrThrow({ where: { id: user.id }, select: { password_hash: true } });
  if (password_hash) {
    if (password === undefined) throw invalidField("password", "Give your password to delete your account.");
    await countOwnPasswordTry(user.id, "delete");
    if (!(await isPassword(password_hash, password))) throw invalidField("password", "This is not your password.");
    return forgetOwnPasswordTries(user.id, "delete");
  }
  if (auth.type !== "session")
    throw new AppError("PERMISSION_DENIED", "This account has no password, so it can be deleted in the web app only: sign in there.");
  if (confirm_email?.toLowerCase() !== user.email)
    throw invalidField("confirm_email", "Give your own e-mail address to delete your account.");
}

async function leave(tx: Prisma.TransactionClient, principal: Principal, projectIds: string[]): Promise<void> {
  const { id: user_id, email } = principal.user;
  for (const id of projectIds) {
    const record = { action: "member.leave", resource_type: "member", resource_id: user_id, resource_name: email } as const;
    await recordAudit(tx, { ...principal, project: { id } }, { ...record, detail: { account: "deleted" } });
  }
  await handOver(tx, user_id);
  await tx.membership.deleteMany({ where: { user_id } });
  await tx.invitation.deleteMany({ where: { invited_by_id: user_id, accepted_at: null } });
  await tx.platformKey.deleteMany({ where: { user_id } });
  await tx.notification.deleteMany({ where: { user_id } });
  await dropSecondFactor(tx, user_id);
  await tx.signInIdentity.deleteMany({ where: { user_id } });
  await tx.passwordReset.deleteMany({ where: { OR: [{ user_id }, { made_by_id: user_id }] } });
  await tx.session.deleteMany({ where: { user_id } });
  await tx.assistantThread.deleteMany({ where: { user_id } });
  // The row stays with the name alone: runs, versions and reviews say who it was.
  await tx.user.update({
    where: { id: user_id },
    data: { email: `deleted-${user_id}`, password_hash: null, is_install_admin: false, deleted_at: new Date() },
  });
}

/**
 * Deletes the caller's account: every session and key ends, and the address is free again. What the user did in projects
 * that go on stays there with the name. Projects without anybody else are deleted too, if the caller says so.
 * @throws AppError VALIDATION_ERROR without the right password (or address, for an account without one); CONFLICT that names
 *   the projects which would be left without an admin, or without anybody, and for the last admin of the install; RATE_LIMIT_EXCEEDED after too many passwords
 */
export async function deleteAccount(principal: Principal, input: DeleteAccountInput): Promise<void> {
  await assertMeant(principal, input);
  const { id: user_id } = principal.user;
  const { closed, stopped } = await db().$transaction(
    async (tx) => {
      // As keepAnAdmin does, in one order: of two admins who delete their accounts at once, the second is refused.
      await tx.$queryRaw`
        SELECT id FROM projects WHERE id IN (SELECT project_id FROM memberships WHERE user_id = ${user_id}::uuid) ORDER BY id FOR UPDATE`;
      await keepAnInstallAdmin(tx, user_id);
      const { alone, last_admin, shared } = await accountProjects(tx, user_id);
      if (last_admin.length)
        throw new AppError(
          "CONFLICT",
          `You are the last admin of ${namesInUse("project", last_admin)}. Make someone else an admin there first.`,
        );
      if (alone.length && !input.delete_projects)
        throw new AppError(
          "CONFLICT",
          `No other members are in ${namesInUse("project", alone)}. Send delete_projects: true to delete that with your account, or add another admin first.`,
        );
      const { closed, stopped } = await leaveAllPutAside(tx, principal);
      for (const { id } of alone) stopped.push(...(await closeProject(tx, id)));
      await leave(
        tx,
        principal,
        shared.map(({ id }) => id),
      );
      return { closed: [...closed, ...alone.map(({ id }) => id)], stopped };
    },
    { timeout: 60_000 },
  );
  log.info({ user_id, projects: closed }, "account deleted");
  dispatchCancels(stopped);
  const until = performance.now() + WAIT_MS;
  for (const id of closed)
    await removeDeletedProject(id, () => performance.now() < until).catch((error) =>
      log.warn({ err: error, project_id: id }, "the rows of a deleted project are still there; they are removed within the hour"),
    );
}

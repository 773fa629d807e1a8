import type { z } from "zod";
import { Prisma } from "#prisma/generated/client.ts";
import { endServiceAccounts } from "#server/features/projects/close-access.ts";
import { forgetRemoved, noteRemoved } from "#server/features/projects/removed-members.ts";
import type { Member, PendingInvitation, PendingInvitationRef, ProjectRef, RemoveMemberInput } from "#server/features/projects/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { assertRole, type Principal, type ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { opensProject } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { ListInput, Page, PageInput, Role } from "#server/shared/primitives-schema.ts";

/** Holds an account for the rest of the transaction: two at once cannot find the same slug free in it. */
export async function holdAccount(within: Prisma.TransactionClient, userId: string): Promise<void> {
  await within.$queryRaw`SELECT id FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`;
}

/**
 * The slug itself, or the first of `slug-2`, `slug-3`, … that no other project of the account has, owned or joined.
 * @param except the project that is to be called so, if it is there already
 */
export async function freeSlug(
  within: Prisma.TransactionClient,
  userId: string,
  wanted: string,
  except: string | null = null,
): Promise<string> {
  const [found] = await within.$queryRaw<{ slug: string }[]>`SELECT free_slug(${userId}::uuid, ${wanted}, ${except}::uuid) AS slug`;
  return found?.slug ?? wanted;
}

/**
 * Call it before a member's admin role is taken away. It holds the project for the rest of the transaction, so that
 * two admins who remove each other at once cannot both succeed.
 * @throws AppError CONFLICT when the user is the project's last admin
 */
export async function keepAnAdmin(within: Prisma.TransactionClient, projectId: string, userId: string): Promise<void> {
  await within.$queryRaw`SELECT id FROM projects WHERE id = ${projectId}::uuid FOR UPDATE`;
  const admins = await within.membership.findMany({ where: { project_id: projectId, role: "admin" }, select: { user_id: true } });
  if (admins.length === 1 && admins[0]?.user_id === userId) {
    throw new AppError("CONFLICT", "This is the last admin of the project. Make someone else an admin first.");
  }
}

/**
 * Gives projects that the user owns and leaves to the admin who has been there longest.
 * @param project_id of one of them; all of them without it
 */
export async function handOver(tx: Prisma.TransactionClient, user_id: string, project_id?: string): Promise<void> {
  const owned = await tx.project.findMany({
    where: { owner_id: user_id, ...(project_id !== undefined && { id: project_id }) },
    select: {
      id: true,
      slug: true,
      memberships: { where: { role: "admin", user_id: { not: user_id } }, orderBy: [{ created_at: "asc" }, { user_id: "asc" }], take: 1 },
    },
  });
  for (const { id, slug, memberships } of owned) {
    const [heir] = memberships;
    if (!heir) continue;
    const { user_id: owner_id } = heir;
    const own = await freeSlug(tx, owner_id, heir.slug ?? slug, id);
    // Everybody else goes on calling it as before.
    if (own !== slug) await tx.membership.updateMany({ where: { project_id: id, slug: null }, data: { slug } });
    if (own !== slug) await tx.membership.updateMany({ where: { project_id: id, user_id: owner_id }, data: { slug: null } });
    await tx.project.update({ where: { id }, data: { owner_id, slug: own } });
  }
}

/**
 * Makes a user a member of a project; who is one already keeps the role. One who has a project of the same slug calls it by
 * another: slugs are unique within an account (specification, Project).
 */
export async function joinProject(
  within: Prisma.TransactionClient,
  { project_id, user_id, role }: { project_id: string; user_id: string; role: Role },
): Promise<void> {
  await holdAccount(within, user_id);
  await within.$executeRaw`
    INSERT INTO memberships (project_id, user_id, role, slug)
    SELECT p.id, ${user_id}::uuid, ${role}::"Role", nullif(free_slug(${user_id}::uuid, p.slug, p.id), p.slug)
    FROM projects p WHERE p.id = ${project_id}::uuid
    ON CONFLICT (project_id, user_id) DO NOTHING`;
  await forgetRemoved(within, project_id, user_id);
}

/**
 * The principal inside the project that an operation names in its path.
 * @throws AppError NOT_FOUND for a project the user is not in, exactly as for one that does not exist; PERMISSION_DENIED
 *   for a role below `needed`
 */
export async function memberOf(principal: Principal, projectId: string, needed: Role): Promise<ProjectPrincipal> {
  const membership =
    isUuid(projectId) && opensProject(principal, projectId)
      ? await db().membership.findUnique({
          where: { project_id_user_id: { project_id: projectId, user_id: principal.user.id } },
          select: { role: true, slug: true, project: { select: { id: true, slug: true, name: true } } },
        })
      : null;
  if (!membership) throw new AppError("NOT_FOUND", "There is no such project among yours.");
  const { role, slug, project } = membership;
  const member = { ...principal, role, project: { ...project, slug: slug ?? project.slug } };
  assertRole(member, needed);
  return member;
}

/** The members of a project, newest first. @throws AppError NOT_FOUND for a project the user is not in */
export async function listMembers(
  principal: Principal,
  { project_id, ...page }: z.infer<typeof ProjectRef> & ListInput,
): Promise<Page<z.infer<typeof Member>>> {
  await memberOf(principal, project_id, "viewer");
  const from = Prisma.sql`
    memberships x JOIN users u ON u.id = x.user_id WHERE x.project_id = ${project_id}::uuid AND u.service_project_id IS NULL`;
  const { total, ids } = await findPage(page, from, Prisma.sql`concat_ws(' ', u.name, u.email)`, {
    id: Prisma.sql`x.user_id`,
    order: Prisma.sql`x.created_at DESC, x.user_id DESC`,
  });
  const rows = await db().membership.findMany({
    where: { project_id, user_id: { in: ids } },
    include: { user: { select: { email: true, name: true } } },
    orderBy: [{ created_at: "desc" }, { user_id: "desc" }],
  });
  return paged(page, [total, rows], ({ user_id, user, role, created_at }) => ({
    user_id,
    ...user,
    role,
    created_at: created_at.toISOString(),
  }));
}

/**
 * Who was invited and has not answered, newest first; also whose invitation has expired within the last 30 days.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin
 */
export async function listPendingInvitations(
  principal: Principal,
  { project_id, ...page }: z.infer<typeof ProjectRef> & PageInput,
): Promise<Page<PendingInvitation>> {
  await memberOf(principal, project_id, "admin");
  const where = { project_id, accepted_at: null };
  const [total, rows] = await Promise.all([
    db().invitation.count({ where }),
    db().invitation.findMany({
      where,
      include: { invited_by: { select: { name: true, email: true, deleted_at: true } } },
      orderBy: { id: "desc" },
      ...pageWindow(page),
    }),
  ]);
  return paged(page, [total, rows], ({ id, email, role, created_at, expires_at, invited_by, held_password_hash, put_aside_at }) => ({
    id,
    email,
    role,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    invited_by: invited_by && (invited_by.deleted_at ? invited_by.name : invited_by.email),
    was_member: held_password_hash !== null || put_aside_at !== null,
  }));
}

/** Ends the open invitations that a person sent, who is no admin of the project any more. */
export async function endInvitationsBy(tx: Prisma.TransactionClient, project_id: string, invited_by_id: string): Promise<void> {
  await tx.invitation.deleteMany({ where: { project_id, invited_by_id, accepted_at: null } });
}

/** Ends the service accounts that a person created in the admin's project. @returns how many */
async function endServiceAccountsBy(tx: Prisma.TransactionClient, admin: ProjectPrincipal, made_by_id: string): Promise<number> {
  const where = { service_project_id: admin.project.id, made_by_id, deleted_at: null };
  const accounts = await tx.user.findMany({ where, select: { id: true, email: true } });
  await endServiceAccounts(
    tx,
    accounts.map(({ id }) => id),
  );
  for (const { id: resource_id, email: resource_name } of accounts)
    await recordAudit(tx, admin, { action: "service_account.delete", resource_type: "service_account", resource_id, resource_name });
  return accounts.length;
}

/**
 * Removes a member, or withdraws the invitation of an address that has not accepted yet. Open invitations that the member sent end; the
 * service accounts that the member created are kept or ended.
 * @throws AppError VALIDATION_ERROR without user_id and email; NOT_FOUND for an unknown project or member;
 *   PERMISSION_DENIED below admin; CONFLICT for the last admin
 */
export async function removeMember(
  principal: Principal,
  { project_id, user_id, email, service_accounts }: z.input<typeof RemoveMemberInput>,
): Promise<void> {
  const admin = await memberOf(principal, project_id, "admin");
  if (user_id === undefined && email === undefined) throw invalidField("user_id", "Name the member by user_id or email.");
  const address = email?.toLowerCase();
  await db().$transaction(async (tx) => {
    const isKnown = user_id === undefined || isUuid(user_id);
    const membership = isKnown
      ? await tx.membership.findFirst({
          where: {
            project_id,
            ...(user_id !== undefined && { user_id }),
            user: { service_project_id: null, ...(address && { email: address }) },
          },
          select: { user_id: true, role: true, user: { select: { email: true } } },
        })
      : null;
    if (membership) {
      await keepAnAdmin(tx, project_id, membership.user_id);
      await tx.membership.deleteMany({ where: { project_id, user_id: membership.user_id } });
      await endInvitationsBy(tx, project_id, membership.user_id);
      const ended = service_accounts === "end" ? await endServiceAccountsBy(tx, admin, membership.user_id) : 0;
      await noteRemoved(tx, project_id, membership.user.email);
      const resource = { resource_type: "member", resource_id: membership.user_id, resource_name: membership.user.email } as const;
      const detail = { role: membership.role, ...(ended > 0 && { service_accounts: ended }) };
      await recordAudit(tx, admin, { action: "member.remove", ...resource, detail });
      return;
    }
    const invitation = address ? await tx.invitation.findFirst({ where: { project_id, email: address, accepted_at: null } }) : null;
    if (!invitation || !(await withdraw(tx, admin, invitation)))
      throw new AppError("NOT_FOUND", "There is no such member in this project.");
  });
}

/** @returns whether it was there: of two who withdraw it at once, or while it is accepted, one finds it gone */
async function withdraw(
  tx: Prisma.TransactionClient,
  admin: ProjectPrincipal,
  { id, email }: { id: string; email: string },
): Promise<boolean> {
  const { count } = await tx.invitation.deleteMany({ where: { id, accepted_at: null } });
  if (count === 0) return false;
  await recordAudit(tx, admin, { action: "member.uninvite", resource_type: "member", resource_id: id, resource_name: email });
  return true;
}

/** @throws AppError NOT_FOUND for an invitation that is not of the project, or was answered */
export async function findPending(tx: Prisma.TransactionClient, project_id: string, invitation_id: string) {
  const where = { id: invitation_id, project_id, accepted_at: null };
  const invitation = isUuid(invitation_id) ? await tx.invitation.findFirst({ where }) : null;
  if (!invitation) throw noInvitation();
  return invitation;
}
export const noInvitation = (): AppError => new AppError("NOT_FOUND", "There is no such open invitation in this project.");

/** Withdraws an invitation: its links open nothing any more. @throws AppError NOT_FOUND, PERMISSION_DENIED below admin */
export async function withdrawInvitation(
  principal: Principal,
  { project_id, invitation_id }: z.infer<typeof PendingInvitationRef>,
): Promise<void> {
  const admin = await memberOf(principal, project_id, "admin");
  await db().$transaction(async (tx) => {
    const invitation = await findPending(tx, project_id, invitation_id);
    if (!(await withdraw(tx, admin, invitation))) throw noInvitation();
  });
}

import type { z } from "zod";
import type { Invitation, Prisma, Project as ProjectRow } from "#prisma/generated/client.ts";
import type { PutAside, PutAsidePage, PutAsideRef } from "#server/features/identity/schema.ts";
import { closeAccess, turnOffWorkflows } from "#server/features/projects/close-access.ts";
import { closeProject, removeClosedProject } from "#server/features/projects/delete.ts";
import { handOver, joinProject } from "#server/features/projects/members.ts";
import { noteRemoved } from "#server/features/projects/removed-members.ts";
import type { Project } from "#server/features/projects/schema.ts";
import { getProject } from "#server/features/projects/service.ts";
import { EndedAccess } from "#server/features/security/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { cancelRunsOf } from "#server/runs/store/end.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";
import type { PageInput } from "#server/shared/primitives-schema.ts";

// Memberships from before the proof of an address wait for the decision of its owner (server/decisions/0021).

type Row = Invitation & { project: ProjectRow };

/** Selects the memberships that wait for the decision of an account. */
const waitingFor = (email: string): Prisma.InvitationWhereInput => ({ email, accepted_at: null, put_aside_at: { not: null } });

const people = { user: { service_project_id: null } };

/** Returns true when taking over leaves the account as the only member: a project that it created and administered. */
const isOwn = ({ role, project }: Row, user_id: string): boolean => role === "admin" && project.owner_id === user_id;

/** Returns how many memberships of the account are put aside. */
export const countPutAside = (email: string): Promise<number> => db().invitation.count({ where: waitingFor(email) });

/** Lists the memberships of the caller that are put aside, newest project first, and what ended when the address was proven. */
export async function listPutAside({ user: { id, email } }: Principal, input: PageInput): Promise<PutAsidePage> {
  const where = waitingFor(email);
  const [{ put_aside }, total, rows] = await Promise.all([
    db().user.findUniqueOrThrow({ where: { id }, select: { put_aside: true } }),
    db().invitation.count({ where }),
    db().invitation.findMany({
      where,
      include: {
        project: {
          include: { owner: { select: { email: true, deleted_at: true } }, _count: { select: { memberships: { where: people } } } },
        },
      },
      orderBy: { id: "desc" },
      ...pageWindow(input),
    }),
  ]);
  const items = paged(input, [total, rows], (row): PutAside => {
    const { owner } = row.project;
    return {
      id: row.id,
      project: { id: row.project_id, name: row.project.name },
      role: row.role,
      is_own: isOwn(row, id),
      owner_email: owner && !owner.deleted_at ? owner.email : null,
      members: row.project._count.memberships,
      put_aside_at: (row.put_aside_at ?? row.created_at).toISOString(),
    };
  });
  return { ...items, ended: put_aside === null ? null : EndedAccess.parse(put_aside) };
}

/** Takes a membership out of what waits, and holds its project for the rest of the transaction. @throws AppError NOT_FOUND */
async function take(tx: Prisma.TransactionClient, email: string, put_aside_id: string): Promise<Row> {
  const where = { ...waitingFor(email), id: put_aside_id };
  const row = isUuid(put_aside_id) ? await tx.invitation.findFirst({ where, include: { project: true } }) : null;
  if (row) await tx.$queryRaw`SELECT id FROM projects WHERE id = ${row.project_id}::uuid FOR UPDATE`;
  const { count } = row ? await tx.invitation.deleteMany({ where }) : { count: 0 };
  if (!row || count === 0) throw new AppError("NOT_FOUND", "This is not put aside, or was decided already. Reload the list.");
  return row;
}

/** Ends what others have in a project, so that its owner is alone in it. @returns ids of the executions that were cancelled */
async function removeOthers(tx: Prisma.TransactionClient, principal: Principal, { project_id, project }: Row): Promise<string[]> {
  const others = await tx.membership.findMany({
    where: { project_id, ...people },
    select: { user_id: true, role: true, user: { select: { email: true } } },
  });
  for (const { user_id, role, user } of others) {
    const resource = { resource_type: "member", resource_id: user_id, resource_name: user.email } as const;
    await noteRemoved(tx, project_id, user.email);
    await recordAudit(tx, { ...principal, project: { id: project_id } }, { action: "member.remove", ...resource, detail: { role } });
  }
  const ended = await closeAccess(tx, [project_id]);
  await turnOffWorkflows(tx, project_id);
  await tx.membership.deleteMany({ where: { project_id } });
  // A thread may wait for an approval that another person asked for.
  await tx.assistantThread.deleteMany({ where: { project_id } });
  const resource = { resource_type: "project", resource_id: project_id, resource_name: project.name } as const;
  const detail = { ...ended, members: others.length };
  await recordAudit(tx, { ...principal, project: { id: project_id } }, { action: "project.take_over", ...resource, detail });
  return cancelRunsOf(tx, project_id);
}

/**
 * Takes up a membership that was put aside, in its role. A project that the account created and administered becomes the caller's alone:
 * its other members, service accounts, share links, invitations and open runs end, and its workflows are turned off.
 * @throws AppError NOT_FOUND for one that does not wait for the caller
 */
export async function takeOver(principal: Principal, { put_aside_id }: z.infer<typeof PutAsideRef>): Promise<Project> {
  const { id: user_id, email } = principal.user;
  const { project_id, stopped } = await db().$transaction(
    async (tx) => {
      const row = await take(tx, email, put_aside_id);
      const { project_id, role } = row;
      const stopped = isOwn(row, user_id) ? await removeOthers(tx, principal, row) : [];
      await joinProject(tx, { project_id, user_id, role });
      const resource = { resource_type: "member", resource_id: user_id, resource_name: email } as const;
      const detail = { role, because: "put aside" };
      await recordAudit(tx, { ...principal, project: { id: project_id } }, { action: "member.join", ...resource, detail });
      return { project_id, stopped };
    },
    { timeout: 60_000 },
  );
  dispatchCancels(stopped);
  return getProject(principal, { project_id });
}

/** Makes the member with the highest role, of these the one who joined first, admin of a project that has none. */
async function keepAnyAdmin(tx: Prisma.TransactionClient, project_id: string): Promise<void> {
  const [first] = await tx.membership.findMany({
    where: { project_id, ...people },
    orderBy: [{ role: "desc" }, { created_at: "asc" }, { user_id: "asc" }],
    take: 1,
  });
  if (!first || first.role === "admin") return;
  await tx.membership.update({
    where: { project_id_user_id: { project_id, user_id: first.user_id } },
    data: { role: "admin" },
  });
}

/** Gives up a membership that is put aside. @returns ids of the executions cancelled with a project without other members, else null */
async function giveUp(tx: Prisma.TransactionClient, principal: Principal, { project_id }: Row): Promise<string[] | null> {
  const others = await tx.membership.count({ where: { project_id, ...people } });
  const waiting = await tx.invitation.count({ where: { project_id, accepted_at: null, put_aside_at: { not: null } } });
  if (others + waiting === 0) return closeProject(tx, project_id);

  await keepAnyAdmin(tx, project_id);
  await handOver(tx, principal.user.id, project_id);
  const { id: resource_id, email: resource_name } = principal.user;
  const record = { action: "member.leave", resource_type: "member", resource_id, resource_name } as const;
  await recordAudit(tx, { ...principal, project: { id: project_id } }, { ...record, detail: { because: "put aside" } });
  return null;
}

/**
 * Leaves a project whose membership was put aside. A project without other members is deleted.
 * @throws AppError NOT_FOUND for one that does not wait for the caller
 */
export async function leavePutAside(principal: Principal, { put_aside_id }: z.infer<typeof PutAsideRef>): Promise<void> {
  const { project_id, stopped } = await db().$transaction(
    async (tx) => {
      const row = await take(tx, principal.user.email, put_aside_id);
      return { project_id: row.project_id, stopped: await giveUp(tx, principal, row) };
    },
    { timeout: 60_000 },
  );
  if (!stopped) return;
  log.info({ project_id, user_id: principal.user.id }, "project that was put aside is deleted");
  dispatchCancels(stopped);
  await removeClosedProject(project_id);
}

/**
 * Leaves all that is put aside for an account that is being deleted.
 * @returns ids of the projects that end with it, and of the executions that were cancelled
 */
export async function leaveAllPutAside(
  tx: Prisma.TransactionClient,
  principal: Principal,
): Promise<{ closed: string[]; stopped: string[] }> {
  const rows = await tx.invitation.findMany({ where: waitingFor(principal.user.email), select: { id: true } });
  const closed: string[] = [];
  const stopped: string[] = [];
  for (const { id } of rows) {
    const row = await take(tx, principal.user.email, id);
    const ended = await giveUp(tx, principal, row);
    if (!ended) continue;
    closed.push(row.project_id);
    stopped.push(...ended);
  }
  return { closed, stopped };
}

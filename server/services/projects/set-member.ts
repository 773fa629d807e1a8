import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { countInvitation, mayMailInvitation } from "#server/auth/hourly-limits.ts";
import type { Principal, ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import { invitationMail } from "#server/mail/invitation-mail.ts";
import { isMailOn, sendMail } from "#server/mail/send-mail.ts";
import type { Role } from "#server/schemas/primitives.ts";
import type { SetMemberInput, SetMemberResult } from "#server/schemas/project.ts";
import { randomToken, sha256 } from "#server/secrets.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { joinProject } from "#server/services/projects/join-project.ts";
import { keepAnAdmin } from "#server/services/projects/keep-an-admin.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { appUrl } from "#server/settings.ts";

const VALID_MS = 7 * 24 * 60 * 60 * 1000;

type Result = z.infer<typeof SetMemberResult>;
/** What the caller is told, and until when the link in it works. */
type Invited = Result & { expires_at?: Date };

/** A link that makes whoever opens it a member; an earlier one for the same address stops working. */
async function invite(tx: Prisma.TransactionClient, admin: ProjectPrincipal, email: string, role: Role): Promise<Invited> {
  await countInvitation(admin.user.id);
  await tx.invitation.deleteMany({ where: { project_id: admin.project.id, email, accepted_at: null } });
  const token = randomToken();
  const expires_at = new Date(Date.now() + VALID_MS);
  const { id } = await tx.invitation.create({
    data: {
      project_id: admin.project.id,
      email,
      role,
      token_hash: sha256(token),
      invited_by_id: admin.user.id,
      expires_at,
    },
  });
  await recordAudit(
    admin,
    { action: "member.invite", resource_type: "member", resource_id: id, resource_name: email, detail: { role } },
    tx,
  );
  return { email, role, status: "invited", invite_url: `${appUrl()}/invite/${token}`, expires_at };
}

/** Sends the link by e-mail where a mail server is set, a few times an hour. Nobody waits for it: the admin has the link too. */
function mailInvitation({ user, project }: ProjectPrincipal, { email, role, invite_url, expires_at }: Invited): void {
  if (!invite_url || !expires_at || !isMailOn()) return;
  const body = invitationMail({ inviter: user.name || user.email, project_name: project.name, role, expires_at, url: invite_url });
  const send = async () => {
    if (await mayMailInvitation(email)) await sendMail({ to: email, id: `invitation-${randomUUID()}`, ...body });
  };
  send().catch((error) =>
    log.warn({ err: error, project_id: project.id }, "an invitation could not be sent by e-mail; its link has to be handed over"),
  );
}

/**
 * Adds the user with this address to the project, or changes the role of one who is a member; an address without an
 * account gets an invitation, valid once and for 7 days, by e-mail too where a mail server is set.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin, CONFLICT when the last admin would lose the role,
 *   RATE_LIMIT_EXCEEDED beyond INVITATIONS_PER_HOUR
 */
export async function setMember(principal: Principal, { project_id, email: given, role }: z.infer<typeof SetMemberInput>): Promise<Result> {
  const admin = await memberOf(principal, project_id, "admin");
  const email = given.toLowerCase();
  const { expires_at, ...result } = await db().$transaction(async (tx): Promise<Invited> => {
    const user = await tx.user.findUnique({
      where: { email },
      select: { id: true, memberships: { where: { project_id }, select: { role: true } } },
    });
    if (!user) return invite(tx, admin, email, role);
    const before = user.memberships[0]?.role;
    if (role !== "admin") await keepAnAdmin(tx, project_id, user.id);
    await joinProject(tx, { project_id, user_id: user.id, role }, "set role");
    await tx.invitation.deleteMany({ where: { project_id, email, accepted_at: null } });
    const resource = { resource_type: "member", resource_id: user.id, resource_name: email };
    const action = before ? "member.update" : "member.add";
    await recordAudit(admin, { action, ...resource, detail: { role, ...(before && { before }) } }, tx);
    return { email, role, status: "active", user_id: user.id };
  });
  mailInvitation(admin, { ...result, ...(expires_at && { expires_at }) });
  return result;
}

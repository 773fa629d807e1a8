import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { endInvitationsBy, findPending, keepAnAdmin, memberOf, noInvitation } from "#server/features/projects/members.ts";
import type { PendingInvitationRef, SetMemberInput, SetMemberResult } from "#server/features/projects/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { countInvitation, mayMail } from "#server/platform/auth/limits.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { button, page, paragraph, quotedName, utc } from "#server/platform/mail/layout.ts";
import { queueAccountEmail } from "#server/platform/mail/outbox.ts";
import { isMailOn, type MailBody } from "#server/platform/mail/send-mail.ts";
import { randomToken, sha256 } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

const VALID_MS = 7 * 24 * 60 * 60 * 1000;

type Result = z.infer<typeof SetMemberResult>;
/** What the caller is told, and what the mail says. */
interface Change {
  result: Result;
  mail?: { token: string; expires_at: Date };
}

/**
 * A link that makes whoever opens it a member, and another one for the mail: only who reads the mail has that. Earlier ones for
 * the same address stop working.
 */
async function invite(tx: Prisma.TransactionClient, admin: ProjectPrincipal, email: string, role: Role): Promise<Change> {
  await tx.invitation.deleteMany({ where: { project_id: admin.project.id, email, accepted_at: null } });
  const [token, mailed] = [randomToken(), randomToken()];
  const expires_at = new Date(Date.now() + VALID_MS);
  const { id } = await tx.invitation.create({
    data: {
      project_id: admin.project.id,
      email,
      role,
      token_hash: sha256(token),
      ...(isMailOn() && { mail_token_hash: sha256(mailed) }),
      invited_by_id: admin.user.id,
      expires_at,
    },
  });
  await recordAudit(tx, admin, {
    action: "member.invite",
    resource_type: "member",
    resource_id: id,
    resource_name: email,
    detail: { role },
  });
  return {
    result: { email, role, status: "invited", invite_url: `${appUrl()}/invite/${token}` },
    mail: { token: mailed, expires_at },
  };
}

/**
 * Sends an invitation again, for seven more days, also one that has expired: with new links, and the old ones open nothing any more.
 * @throws AppError NOT_FOUND for one that is not of the project, or was answered; PERMISSION_DENIED below admin; RATE_LIMIT_EXCEEDED
 *   beyond INVITATIONS_PER_HOUR
 */
export async function resendInvitation(
  principal: Principal,
  { project_id, invitation_id }: z.infer<typeof PendingInvitationRef>,
): Promise<Result> {
  const admin = await memberOf(principal, project_id, "admin");
  await findPending(db(), project_id, invitation_id);
  await countInvitation(admin.user.id);

  const change = await db().$transaction(async (tx) => {
    const { id, email, role } = await findPending(tx, project_id, invitation_id);
    // Of two who send it again at once, the second finds it gone.
    const { count } = await tx.invitation.deleteMany({ where: { id, accepted_at: null } });
    if (count === 0) throw noInvitation();
    return invite(tx, admin, email, role);
  });
  mailInvitation(admin, change);
  return change.result;
}

/** Sends a link by e-mail where a mail server is set, a few times an hour. Nobody waits for it: the admin has one too. */
function mailInvitation({ user, project }: ProjectPrincipal, { result: { email, role }, mail }: Change): void {
  if (!mail || !isMailOn()) return;
  const url = `${appUrl()}/invite/${mail.token}`;
  const body = invitationMail({ inviter: user.name || user.email, project_name: project.name, role, expires_at: mail.expires_at, url });
  const { expires_at } = mail;
  const queue = async () => {
    if (!(await mayMail("invitation", email))) return;
    await queueAccountEmail({ message_id: `invitation-${randomUUID()}`, address: email, project_id: project.id, expires_at, ...body });
  };
  queue().catch((error) =>
    log.warn({ err: error, project_id: project.id }, "an invitation could not be queued as an email; its link has to be handed over"),
  );
}

/**
 * Changes the role of a member, or invites the address. An invitation is single-use, valid for 7 days, and also sent by email where a
 * mail server is set. The answer is the same whether the address has an account or not: only accepting adds a member.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin, CONFLICT when the last admin would lose the role,
 *   RATE_LIMIT_EXCEEDED beyond INVITATIONS_PER_HOUR
 */
export async function setMember(principal: Principal, { project_id, email: given, role }: z.infer<typeof SetMemberInput>): Promise<Result> {
  const admin = await memberOf(principal, project_id, "admin");
  const email = given.toLowerCase();
  const member = await db().membership.findFirst({ where: { project_id, user: { email } }, select: { user_id: true } });
  if (!member) await countInvitation(admin.user.id);

  const change = await db().$transaction(async (tx): Promise<Change> => {
    const user = await tx.user.findUnique({
      where: { email },
      select: { id: true, service_project_id: true, memberships: { where: { project_id }, select: { role: true } } },
    });
    const before = user?.memberships[0]?.role;
    if (user?.service_project_id) {
      throw invalidField(
        "email",
        "This is the address of a service account, which belongs to one project. Its role is changed in Settings, Service accounts.",
      );
    }
    if (!user || !before) return invite(tx, admin, email, role);
    if (role !== "admin") await keepAnAdmin(tx, project_id, user.id);
    await tx.membership.update({ where: { project_id_user_id: { project_id, user_id: user.id } }, data: { role } });
    await tx.invitation.deleteMany({ where: { project_id, email, accepted_at: null } });
    if (role !== "admin") await endInvitationsBy(tx, project_id, user.id);
    const resource = { resource_type: "member", resource_id: user.id, resource_name: email } as const;
    await recordAudit(tx, admin, { action: "member.update", ...resource, detail: { role, before } });
    return { result: { email, role, status: "active", user_id: user.id } };
  });
  mailInvitation(admin, change);
  return change.result;
}

interface InvitationMail {
  inviter: string;
  project_name: string;
  role: Role;
  expires_at: Date;
  url: string;
}

/** Invites somebody, with an account or without, into a project. */
export function invitationMail({ inviter, project_name, role, expires_at, url }: InvitationMail): MailBody {
  const title = "Join a project";
  const invites = `${quotedName(inviter)} invites you to the project ${quotedName(project_name)} as ${role}. If you expected nothing like that, ignore this mail.`;
  const until = `The link works once, until ${utc(expires_at)}.`;
  return {
    subject: "You are invited to a project on Treadle",
    text: [title, invites, `Open the invitation:\n${url}`, until].join("\n\n"),
    html: page(title, [paragraph(invites), button("Open the invitation", url), paragraph(until)]),
  };
}

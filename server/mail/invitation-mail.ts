import { button, page, paragraph, utc } from "#server/mail/layout.ts";
import type { MailBody } from "#server/mail/send-mail.ts";
import type { Role } from "#server/schemas/primitives.ts";

interface InvitationMail {
  inviter: string;
  project_name: string;
  role: Role;
  expires_at: Date;
  url: string;
}

/** Invites somebody without an account into a project. */
export function invitationMail({ inviter, project_name, role, expires_at, url }: InvitationMail): MailBody {
  const title = `Join ${project_name}`;
  const invites = `${inviter} invites you to the project “${project_name}” as ${role}.`;
  const until = `The link works once, until ${utc(expires_at)}.`;
  return {
    subject: `${inviter} invites you to ${project_name}`,
    text: [title, invites, `Make your account:\n${url}`, until].join("\n\n"),
    html: page(title, [paragraph(invites), button("Make your account", url), paragraph(until)]),
  };
}

import { quotedName } from "#server/mail/foreign-text.ts";
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

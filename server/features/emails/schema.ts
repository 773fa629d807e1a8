import { z } from "zod";
import { EmailState } from "#server/platform/mail/schema.ts";
import { Timestamp } from "#server/shared/primitives-schema.ts";

export const RecipientInput = z.strictObject({ address: z.string().max(254) });
export const RecipientStanding = z.object({ state: EmailState });

export const EmailLink = z.strictObject({ token: z.string().min(1).max(200) });

/** Choices of a recipient about the emails of a project. */
export const EmailChoice = z.enum(["confirm", "stop", "resume"]);
export type EmailChoice = z.infer<typeof EmailChoice>;
export const ChangeEmailsInput = EmailLink.extend({ choice: EmailChoice });

/** The emails of a project to an address, as its person sees them. */
export const LinkedEmails = z.object({
  address: z.string(),
  project_name: z.string(),
  state: EmailState,
  held: z.number().int().meta({ description: "Emails that come as one summary after a confirmation" }),
});
export type LinkedEmails = z.infer<typeof LinkedEmails>;

/** Last known state of the mail server, and the number of queued emails. */
export const MailState = z
  .object({
    is_on: z.boolean().meta({ description: "Whether SMTP_URL and EMAIL_FROM are set", example: true }),
    last_sent_at: Timestamp.nullable().meta({ description: "When the mail server last took an email" }),
    last_error: z
      .object({ message: z.string().meta({ description: "Without user and password", example: "Connection refused" }), at: Timestamp })
      .nullable(),
    retry_at: Timestamp.nullable().meta({ description: "When the server is tried again, while it cannot be reached", example: null }),
    queued: z.number().int().meta({ description: "Emails that wait to be sent", example: 0 }),
    held: z.number().int().meta({ description: "Emails over a limit or to addresses that have not confirmed, for summaries", example: 0 }),
  })
  .meta({ id: "MailState" });
export type MailState = z.infer<typeof MailState>;

import { changeLinkedEmails, getLinkedEmails } from "#server/features/emails/links.ts";
import { ChangeEmailsInput, EmailLink, LinkedEmails, RecipientInput, RecipientStanding } from "#server/features/emails/schema.ts";
import { readRecipient } from "#server/features/emails/state.ts";
import { publicProcedure, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";

// The web UI only: the page that the link at the end of an email leads to, and the editor of a Review node.
export const emailsRouter = router({
  recipient: viewerProcedure
    .input(RecipientInput)
    .output(RecipientStanding)
    .query(({ ctx, input }) => readRecipient(ctx.principal, input)),
  byLink: publicProcedure
    .input(EmailLink)
    .output(LinkedEmails)
    .query(({ input }) => getLinkedEmails(input)),
  changeByLink: publicProcedure
    .input(ChangeEmailsInput)
    .output(LinkedEmails)
    .mutation(({ input }) => changeLinkedEmails(input)),
});

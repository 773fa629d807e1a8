import { getPasswordReset, requestPasswordReset, resetPassword } from "#server/features/security/password-reset.ts";
import {
  BeginSecondFactorInput,
  BegunSecondFactor,
  ConfirmSecondFactorInput,
  EndedSessions,
  PasswordReset,
  PasswordResetInput,
  ProveSecondFactorInput,
  RecoveryCodes,
  RequestPasswordResetInput,
  ResetPasswordInput,
  SessionPage,
  SessionRef,
  SignInSafety,
} from "#server/features/security/schema.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  getSignInSafety,
  renewRecoveryCodes,
  turnOffSecondFactor,
} from "#server/features/security/second-factor.ts";
import { endOtherSessions, endOwnSession, listSessions } from "#server/features/security/sessions.ts";
import { endpoint, publicProcedure, router, userProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, Nothing, PageInput } from "#server/shared/primitives-schema.ts";

const tag = "Identity";
const ofWebApp = { access: "user", sessionOnly: true } as const;

export const securityRouter = router({
  sessions: userProcedure
    .meta(endpoint("GET", "/users/me/sessions", { tag, summary: "List the browsers I am signed in with", description: "Seen last first." }))
    .input(PageInput)
    .output(SessionPage)
    .query(({ ctx, input }) => listSessions(ctx.principal, input)),
  endSession: userProcedure
    .meta(endpoint("DELETE", "/users/me/sessions/{session_id}", { tag, summary: "Sign one browser out", status: 204 }))
    .input(SessionRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => endOwnSession(ctx.principal, input)),
  requestPasswordReset: publicProcedure
    .meta(
      endpoint("POST", "/auth/password-reset", {
        tag,
        summary: "Ask for a link that sets a new password",
        description:
          "It goes by mail to the address, if that has an account with a password; the answer is the same if not. 409 where no mail server is set, 429 after 20 within an hour from one address.",
        status: 204,
        isIdempotent: false,
      }),
    )
    .input(RequestPasswordResetInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => requestPasswordReset(input, ctx.address)),
  passwordReset: publicProcedure
    .meta(
      endpoint("GET", "/auth/password-reset/{token}", { tag, summary: "Read whose password a link sets", description: "Changes nothing." }),
    )
    .input(PasswordResetInput)
    .output(PasswordReset)
    .query(({ input }) => getPasswordReset(input)),
  resetPassword: publicProcedure
    .meta(
      endpoint("POST", "/auth/password-reset/{token}", {
        tag,
        summary: "Set a new password by a link",
        description:
          "Single use, valid for an hour. Every session of the account ends; two-factor authentication stays. A mailed link proves the address: at the first proof, what the account had before is put aside (`/users/me/put-aside`), and its second factor ends.",
        status: 204,
        isIdempotent: false,
      }),
    )
    .input(ResetPasswordInput)
    .output(NoContent)
    .mutation(({ input }) => resetPassword(input)),
  // The web app only.
  safety: userProcedure
    .input(Nothing)
    .output(SignInSafety)
    .query(({ ctx }) => getSignInSafety(ctx.principal)),
  endOtherSessions: userProcedure
    .meta(ofWebApp)
    .input(Nothing)
    .output(EndedSessions)
    .mutation(({ ctx }) => endOtherSessions(ctx.principal)),
  beginSecondFactor: userProcedure
    .meta(ofWebApp)
    .input(BeginSecondFactorInput)
    .output(BegunSecondFactor)
    .mutation(({ ctx, input }) => beginSecondFactor(ctx.principal, input)),
  confirmSecondFactor: userProcedure
    .meta(ofWebApp)
    .input(ConfirmSecondFactorInput)
    .output(RecoveryCodes)
    .mutation(({ ctx, input }) => confirmSecondFactor(ctx.principal, input)),
  renewRecoveryCodes: userProcedure
    .meta(ofWebApp)
    .input(ProveSecondFactorInput)
    .output(RecoveryCodes)
    .mutation(({ ctx, input }) => renewRecoveryCodes(ctx.principal, input)),
  turnOffSecondFactor: userProcedure
    .meta(ofWebApp)
    .input(ProveSecondFactorInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => turnOffSecondFactor(ctx.principal, input)),
});

import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { deleteAccount, getAccountDeletion } from "#server/features/identity/delete-account.ts";
import { getInstallStatus, setUpOwner } from "#server/features/identity/first-owner.ts";
import { declineInvitation, getInvitation, listOwnInvitations, openInvitation } from "#server/features/identity/invitations.ts";
import { resumeMemberships } from "#server/features/identity/new-account.ts";
import { changePassword, getProfile, updateProfile } from "#server/features/identity/profile.ts";
import {
  AcceptInvitationInput,
  AccountDeletion,
  AuthInfo,
  ChangePasswordInput,
  DeclineInvitationInput,
  DeleteAccountInput,
  InstallStatus,
  Invitation,
  InvitationInput,
  OpenedInvitation,
  OwnInvitations,
  ResumedMemberships,
  ResumeMembershipsInput,
  SetUpInput,
  SignedUp,
  SignUpInput,
  UpdateProfileInput,
  UserProfile,
} from "#server/features/identity/schema.ts";
import { signUp } from "#server/features/identity/sign-up.ts";
import { countNewAccount } from "#server/platform/auth/limits.ts";
import { endpoint, publicProcedure, router, userProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, Nothing } from "#server/shared/primitives-schema.ts";

const tag = "Identity";

const DELETION = `Every session and API key of yours ends, and your address is free again. Your name stays on what you did in projects that go on: \
runs, versions, reviews and audit entries; projects that you own pass to the admin who has been there longest. 409 names the projects \
where you are the last admin of others, who must have another admin first, and those that nobody else is in, which \`delete_projects: true\` \
deletes too. Needs your password; an account without one is deleted in the web app.`;

export const identityRouter = router({
  me: userProcedure
    .meta(endpoint("GET", "/auth/me", { tag, summary: "Who am I", description: "The current user; use it to check a key." }))
    .input(Nothing)
    .output(AuthInfo)
    .query(({ ctx: { principal } }) => AuthInfo.parse({ ...principal.user, auth: principal.auth })),
  profile: userProcedure
    .meta(endpoint("GET", "/users/me", { tag, summary: "My profile and projects" }))
    .input(Nothing)
    .output(UserProfile)
    .query(({ ctx }) => getProfile(ctx.principal)),
  deleteAccount: userProcedure
    .meta(
      endpoint("DELETE", "/users/me", {
        tag,
        summary: "Delete my account",
        description: DELETION,
        status: 204,
      }),
    )
    .input(DeleteAccountInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteAccount(ctx.principal, input)),
  signUp: publicProcedure
    .meta(
      endpoint("POST", "/auth/sign-up", {
        tag,
        summary: "Create an account",
        description:
          "403 unless sign-up is open (ALLOW_SIGNUP=1). 429 after 20 accounts from one address within an hour (ACCOUNTS_PER_HOUR).",
        status: 201,
      }),
    )
    .input(SignUpInput)
    .output(SignedUp)
    .mutation(async ({ ctx, input }) => {
      await countNewAccount(ctx.address);
      return signUp(input);
    }),
  invitation: publicProcedure
    .meta(endpoint("GET", "/invitations/{token}", { tag, summary: "Read an invitation" }))
    .input(InvitationInput)
    .output(Invitation)
    .query(({ input }) => getInvitation(input)),
  acceptInvitation: publicProcedure
    .meta(
      endpoint("POST", "/invitations/{token}/accept", {
        tag,
        summary: "Accept an invitation",
        description: "Single use, valid for 7 days. Joins with a new account, or with the one that the address has.",
        status: 201,
      }),
    )
    .input(AcceptInvitationInput)
    .output(SignedUp)
    .mutation(({ ctx, input }) => acceptInvitation(input, ctx.principal, ctx.address)),
  // The web UI only: what the entry pages ask, the first visit to an empty install, and the profile page.
  status: publicProcedure
    .input(Nothing)
    .output(InstallStatus)
    .query(({ ctx }) => getInstallStatus(ctx)),
  setUp: publicProcedure
    .input(SetUpInput)
    .output(SignedUp)
    .mutation(({ ctx, input }) => setUpOwner(input, ctx)),
  openInvitation: publicProcedure
    .input(InvitationInput)
    .output(OpenedInvitation)
    .query(({ ctx, input }) => openInvitation(input, ctx.principal)),
  invitations: userProcedure
    .input(Nothing)
    .output(OwnInvitations)
    .query(({ ctx }) => listOwnInvitations(ctx.principal)),
  declineInvitation: userProcedure
    .meta({ access: "user", sessionOnly: true })
    .input(DeclineInvitationInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => declineInvitation(ctx.principal, input)),
  resumeMemberships: userProcedure
    .meta({ access: "user", sessionOnly: true })
    .input(ResumeMembershipsInput)
    .output(ResumedMemberships)
    .mutation(({ ctx, input }) => resumeMemberships(ctx.principal, input)),
  accountDeletion: userProcedure
    .input(Nothing)
    .output(AccountDeletion)
    .query(({ ctx }) => getAccountDeletion(ctx.principal)),
  updateProfile: userProcedure
    .meta(
      endpoint("PUT", "/users/me", {
        tag,
        summary: "Change my profile",
        description: "What is left out stays as it is.",
      }),
    )
    .input(UpdateProfileInput)
    .output(UserProfile)
    .mutation(({ ctx, input }) => updateProfile(ctx.principal, input)),
  changePassword: userProcedure
    .meta({ access: "user", sessionOnly: true })
    .input(ChangePasswordInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => changePassword(ctx.principal, input)),
});

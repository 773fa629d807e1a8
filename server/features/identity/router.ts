import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { deleteAccount, getAccountDeletion } from "#server/features/identity/delete-account.ts";
import { getInstallStatus, setUpOwner } from "#server/features/identity/first-owner.ts";
import { declineInvitation, getInvitation, listOwnInvitations, openInvitation } from "#server/features/identity/invitations.ts";
import { resumeMemberships } from "#server/features/identity/new-account.ts";
import { changePassword, getProfile, updateProfile } from "#server/features/identity/profile.ts";
import { leavePutAside, listPutAside, takeOver } from "#server/features/identity/put-aside.ts";
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
  OwnIdentities,
  OwnInvitations,
  PutAsidePage,
  PutAsideRef,
  ResumedMemberships,
  ResumeMembershipsInput,
  SetUpInput,
  SignedUp,
  SignUpInput,
  UpdateProfileInput,
  UserProfile,
} from "#server/features/identity/schema.ts";
import { listOwnIdentities } from "#server/features/identity/sign-in.ts";
import { signUp } from "#server/features/identity/sign-up.ts";
import { Project } from "#server/features/projects/schema.ts";
import { countNewAccount } from "#server/platform/auth/limits.ts";
import { endpoint, publicProcedure, router, userProcedure } from "#server/platform/rpc/trpc.ts";
import { NoContent, Nothing, PageInput } from "#server/shared/primitives-schema.ts";

const tag = "Identity";

const DELETION = `Every session and API key of yours ends, and your address is free again. Your name stays on what you did in projects that go on: \
runs, versions, reviews and audit entries; projects that you own pass to the admin who has been there longest. 409 names the projects \
where you are the last admin of others, who must have another admin first, and those without other members, which \`delete_projects: true\` \
deletes too. Needs your password; an account without one is deleted in the web app.`;

export const identityRouter = router({
  me: userProcedure
    .meta(
      endpoint("GET", "/auth/me", { tag, summary: "Who am I", description: "The current user; use it to check a key.", isOpenToRun: true }),
    )
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
        description:
          "Single use, valid for 7 days. For an address without an account, `name` and `password` create one. For an address that has an account, send `{}` with that account's browser session; without it the response is 401. An existing account keeps its password, keys and memberships. If the link was mailed and the address was not proven yet, accepting proves it: what the account had before is put aside (`/users/me/put-aside`).",
        status: 201,
      }),
    )
    .input(AcceptInvitationInput)
    .output(SignedUp)
    .mutation(({ ctx, input }) => acceptInvitation(input, ctx.principal)),
  putAside: userProcedure
    .meta(
      endpoint("GET", "/users/me/put-aside", {
        tag,
        summary: "List what was put aside",
        description:
          "Memberships that this account had before its address was proven, newest first, and what ended then. A membership stays put aside until you leave it or take it over.",
      }),
    )
    .input(PageInput)
    .output(PutAsidePage)
    .query(({ ctx, input }) => listPutAside(ctx.principal, input)),
  takeOver: userProcedure
    .meta(
      endpoint("POST", "/users/me/put-aside/{put_aside_id}/take-over", {
        tag,
        summary: "Take over a project that was put aside",
        description:
          "You get the role that the account had. In a project of your own (`is_own`) this removes every other member, ends service accounts with their keys, share links, invitations, webhook secrets and open runs, and turns the workflows off.",
      }),
    )
    .input(PutAsideRef)
    .output(Project)
    .mutation(({ ctx, input }) => takeOver(ctx.principal, input)),
  leavePutAside: userProcedure
    .meta(
      endpoint("DELETE", "/users/me/put-aside/{put_aside_id}", {
        tag,
        summary: "Leave a project that was put aside",
        description:
          "A project without other members is deleted with everything in it. In any other, the member who joined first becomes admin when there is none.",
        status: 204,
      }),
    )
    .input(PutAsideRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => leavePutAside(ctx.principal, input)),
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
  identities: userProcedure
    .input(Nothing)
    .output(OwnIdentities)
    .query(({ ctx }) => listOwnIdentities(ctx.principal)),
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

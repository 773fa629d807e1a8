import { deleteProject } from "#server/features/projects/delete.ts";
import { getHourlyUse, getStorage } from "#server/features/projects/limits.ts";
import { listMembers, listPendingInvitations, removeMember, withdrawInvitation } from "#server/features/projects/members.ts";
import {
  CreateProjectInput,
  HourlyUse,
  MemberPage,
  PendingInvitationPage,
  PendingInvitationRef,
  Project,
  ProjectPage,
  ProjectRef,
  ProjectStorage,
  RemoveMemberInput,
  SetMemberInput,
  SetMemberResult,
  UpdateProjectInput,
} from "#server/features/projects/schema.ts";
import { createProject, getProject, listProjects, updateProject } from "#server/features/projects/service.ts";
import { resendInvitation, setMember } from "#server/features/projects/set-member.ts";
import { endpoint, router, userProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent, PageInput } from "#server/shared/primitives-schema.ts";

// The project stands in the path here, so the role is checked by the services against that project, not by a header.
const tag = "Projects";
const LIMITS =
  "With `retention_days` executions that ended longer ago are deleted once an hour, with their inputs, outputs and logs; null keeps them for ever. One that runs or waits is never deleted. `executions_per_hour` is how many executions API, webhooks, HTTP triggers and schedules may start in an hour; null takes the install's figure, and an install may have a cap.";

const MEMBERS = `Changes the role of a member at once (\`status\` is \`active\`). Any other address is invited (\`invited\`): \`invite_url\` is the link to \
hand over, and where a mail server is set another link is sent by email. The response does not depend on whether the address has an account. An \
existing account joins only when its owner accepts while signed in.`;

export const projectsRouter = router({
  list: userProcedure
    .meta(endpoint("GET", "/projects", { tag, summary: "List my projects" }))
    .input(PageInput)
    .output(ProjectPage)
    .query(({ ctx, input }) => listProjects(ctx.principal, input)),
  create: userProcedure
    .meta(endpoint("POST", "/projects", { tag, summary: "Create a project", description: "You become its admin.", status: 201 }))
    .input(CreateProjectInput)
    .output(Project)
    .mutation(({ ctx, input }) => createProject(ctx.principal, input)),
  get: userProcedure
    .meta(endpoint("GET", "/projects/{project_id}", { tag, role: "viewer", summary: "Read a project" }))
    .input(ProjectRef)
    .output(Project)
    .query(({ ctx, input }) => getProject(ctx.principal, input)),
  update: userProcedure
    .meta(endpoint("PUT", "/projects/{project_id}", { tag, role: "admin", summary: "Change a project", description: LIMITS }))
    .input(UpdateProjectInput)
    .output(Project)
    .mutation(({ ctx, input }) => updateProject(ctx.principal, input)),
  // The web UI's notice that the hour is nearly used up.
  hour: userProcedure
    .input(ProjectRef)
    .output(HourlyUse)
    .query(({ ctx, input }) => getHourlyUse(ctx.principal, input)),
  storage: userProcedure
    .meta(
      endpoint("GET", "/projects/{project_id}/storage", {
        tag,
        role: "viewer",
        summary: "Read how much a project holds",
        description:
          "About how many bytes, by what they are of, and how many there may be. Measured at most once a minute. A run that has begun may go a tenth beyond the quota, then it fails.",
      }),
    )
    .input(ProjectRef)
    .output(ProjectStorage)
    .query(({ ctx, input }) => getStorage(ctx.principal, input)),
  delete: userProcedure
    .meta(
      endpoint("DELETE", "/projects/{project_id}", {
        tag,
        summary: "Delete a project and everything in it",
        description:
          "It is gone for every member at once: runs under way are cancelled and their model calls stop, schedules fire no more, webhooks answer 401. Its audit log goes too. Rows of a large project are removed in the background.",
        role: "admin",
        status: 204,
      }),
    )
    .input(ProjectRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteProject(ctx.principal, input)),
  members: userProcedure
    .meta(endpoint("GET", "/projects/{project_id}/members", { tag, role: "viewer", summary: "List the members" }))
    .input(ProjectRef.extend(ListInput.shape))
    .output(MemberPage)
    .query(({ ctx, input }) => listMembers(ctx.principal, input)),
  setMember: userProcedure
    .meta(
      endpoint("POST", "/projects/{project_id}/members", {
        tag,
        summary: "Invite a member, or change the role of one",
        description: MEMBERS,
        role: "admin",
        status: 201,
      }),
    )
    .input(SetMemberInput)
    .output(SetMemberResult)
    .mutation(({ ctx, input }) => setMember(ctx.principal, input)),
  invitations: userProcedure
    .meta(
      endpoint("GET", "/projects/{project_id}/invitations", {
        tag,
        role: "admin",
        summary: "List who is invited and has not answered",
        description: "Newest first; also those that have expired, for 30 days.",
      }),
    )
    .input(ProjectRef.extend(PageInput.shape))
    .output(PendingInvitationPage)
    .query(({ ctx, input }) => listPendingInvitations(ctx.principal, input)),
  resendInvitation: userProcedure
    .meta(
      endpoint("POST", "/projects/{project_id}/invitations/{invitation_id}/resend", {
        tag,
        role: "admin",
        summary: "Send an invitation again",
        description: "With new links, for seven more days; the old ones open nothing any more.",
        isIdempotent: false,
      }),
    )
    .input(PendingInvitationRef)
    .output(SetMemberResult)
    .mutation(({ ctx, input }) => resendInvitation(ctx.principal, input)),
  withdrawInvitation: userProcedure
    .meta(
      endpoint("DELETE", "/projects/{project_id}/invitations/{invitation_id}", {
        tag,
        role: "admin",
        summary: "Withdraw an invitation",
        status: 204,
      }),
    )
    .input(PendingInvitationRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => withdrawInvitation(ctx.principal, input)),
  removeMember: userProcedure
    .meta(
      endpoint("DELETE", "/projects/{project_id}/members", {
        tag,
        summary: "Remove a member",
        description:
          "By user_id or email, in the query or the body. Open invitations that the member sent end. The service accounts that the member created (`created_by_id`) stay, unless `service_accounts` is `end`.",
        role: "admin",
        status: 204,
      }),
    )
    .input(RemoveMemberInput)
    .output(NoContent)
    .mutation(({ ctx, input }) => removeMember(ctx.principal, input)),
});

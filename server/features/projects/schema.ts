import { z } from "zod";
import { AccountEmail, Email, Id, ignoredFields, Name, pageOf, Role, Timestamp } from "#server/shared/primitives-schema.ts";

export const Slug = z
  .string()
  .min(1)
  .max(60, { abort: true })
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "Use lower-case letters, digits and single dashes.")
  .meta({ description: "Readable name for X-Project-Slug, unique within the account", title: "Slug", example: "weaving" });

export const Project = z
  .object({
    id: Id,
    slug: z
      .string()
      .meta({ description: "What your account calls it: with -2 and so on where you have another of that slug", example: "weaving" }),
    name: z.string().meta({ example: "Weaving" }),
    role: Role.meta({ description: "Your role in it" }),
    retention_days: z.number().int().nullable().meta({ description: "Days that executions are kept; null keeps them", example: 90 }),
    executions_per_hour: z
      .number()
      .int()
      .nullable()
      .meta({ description: "Executions that API, webhooks and schedules may start in an hour; null takes the install's", example: 100 }),
    error_workflow_id: Id.nullable().meta({
      description: "The workflow that is started when a run fails whose own workflow names none",
      example: null,
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

const ProjectName = Name.meta({ example: "Weaving" });
const writable = {
  name: ProjectName,
  slug: Slug,
  retention_days: z.number().int().min(1).max(3650).nullable(),
  executions_per_hour: z.number().int().min(1).max(1_000_000).nullable(),
  error_workflow_id: Id.nullable().meta({ example: null }),
};
export const CreateProjectInput = z.strictObject({ name: ProjectName, slug: Slug.optional() });
export const UpdateProjectInput = z.strictObject({
  ...ignoredFields(Project, writable),
  project_id: Id,
  ...z.object(writable).partial().shape,
});
export const ProjectRef = z.strictObject({ project_id: Id });
/** How much of its hour a project has used. */
export const HourlyUse = z.object({
  limit: z.number().int().nullable().meta({ description: "null for none" }),
  used: z.number().int().meta({ description: "Never more than the limit" }),
  next_at: Timestamp.nullable().meta({ description: "When the first of them is an hour old" }),
  preset: z.number().int().nullable().meta({ description: "The install's limit, for projects that set none" }),
  most: z.number().int().nullable().meta({ description: "The most that a project may set" }),
});
export type HourlyUse = z.infer<typeof HourlyUse>;
/** What a project holds, in bytes. */
export const ProjectStorage = z
  .object({
    quota: z.number().int().nullable().meta({
      description:
        "Bytes that it may hold (`PROJECT_STORAGE_BYTES`); beyond them starting a run, asking the assistant, and adding a document, agent, skill or MCP server is 409. null for no limit",
      example: 10_000_000_000,
    }),
    used: z.number().int().meta({ description: "About as many bytes as it holds", example: 48_120_344 }),
    runs: z
      .number()
      .int()
      .meta({ description: "Of them: executions with inputs, outputs, logs and events, and webhook deliveries", example: 40_110_200 }),
    documents: z.number().int().meta({ description: "Of them: documents of knowledge sources, with their vectors", example: 7_998_000 }),
    workflows: z.number().int().meta({
      description: "Of them: the graphs of workflows, all versions and drafts, and what was said and proposed in threads of the assistant",
      example: 12_144,
    }),
    other: z.number().int().meta({
      description: "Of them: versions of agents, skills, tool lists of MCP servers, kept answers to Idempotency-Keys and the audit log",
      example: 3_120,
    }),
  })
  .meta({ id: "ProjectStorage" });
export type ProjectStorage = z.infer<typeof ProjectStorage>;
export const ProjectPage = pageOf(Project);

export const Member = z
  .object({ user_id: Id, email: AccountEmail, name: z.string().meta({ example: "Ada" }), role: Role, created_at: Timestamp })
  .meta({ id: "Member" });
export const MemberPage = pageOf(Member);
export const SetMemberInput = z.strictObject({ project_id: Id, email: Email, role: Role });

export const SetMemberResult = z
  .object({
    email: Email,
    role: Role,
    status: z.enum(["active", "invited"]),
    user_id: Id.optional(),
    invite_url: z
      .string()
      .optional()
      .meta({ description: "Link to hand over when no mail is sent", example: "https://treadle.example/invite/q2w3e4" }),
  })
  .meta({ id: "MemberResult" });
export const RemoveMemberInput = z.strictObject({
  project_id: Id,
  user_id: Id.optional(),
  email: Email.optional(),
  service_accounts: z
    .enum(["keep", "end"])
    .default("keep")
    .meta({ description: "Service accounts that the member created: end deletes them with their keys", example: "keep" }),
});

/** An invitation that nobody has answered, as admins see it. */
export const PendingInvitation = z
  .object({
    id: Id,
    email: Email,
    role: Role,
    created_at: Timestamp,
    expires_at: Timestamp.meta({ description: "It opens nothing from then on, until it is sent again" }),
    invited_by: z
      .string()
      .nullable()
      .meta({ description: "Who invited; null for a membership that is put aside", example: "eve@example.com" }),
    was_member: z.boolean().meta({ description: "True for a membership that was put aside when the account proved its address" }),
  })
  .meta({ id: "PendingInvitation" });
export type PendingInvitation = z.infer<typeof PendingInvitation>;
export const PendingInvitationPage = pageOf(PendingInvitation);
export const PendingInvitationRef = z.strictObject({ project_id: Id, invitation_id: Id });

import { z } from "zod";
import { ExecutionStatus } from "#server/runs/status-schema.ts";
import { Description, Id, ignoredFields, Name, pageOf, pageQuery, searchQuery, Timestamp } from "#server/shared/primitives-schema.ts";
import { graphInputShape, graphShape, problemsShape } from "#server/workflow/schema.ts";

/** View of a schedule trigger. */
export const ScheduleView = z
  .object({
    enabled: z.boolean().meta({ description: "The trigger's own toggle" }),
    cron_expression: z.string().meta({ example: "30 9 * * 1-5" }),
    timezone: z.string().meta({ example: "Europe/Berlin" }),
    default_input: z.string().meta({ example: "" }),
    next_fires: z.array(Timestamp).meta({ description: "The next five fires; none while the schedule or the workflow is off" }),
  })
  .meta({ id: "Schedule" });
export type ScheduleView = z.infer<typeof ScheduleView>;

const scheduleTimes = {
  cron_expression: z
    .string()
    .max(120)
    .optional()
    .meta({ title: "Schedule", description: "Cron with five fields, at least 5 minutes apart", example: "30 9 * * 1-5" }),
  timezone: z
    .string()
    .max(60)
    .optional()
    .meta({ title: "Time zone", description: "IANA name, e.g. Europe/Berlin", example: "Europe/Berlin" }),
  default_input: z.string().max(100_000).optional().meta({ title: "Default input", description: "The input of each run" }),
};

/** A schedule in the body of a workflow. */
const WrittenSchedule = z
  .strictObject({
    ...ignoredFields(ScheduleView, { enabled: 0, ...scheduleTimes }),
    enabled: z.boolean().optional(),
    ...scheduleTimes,
  })
  .nullable()
  .meta({
    description:
      "View of the schedule trigger. A value that differs is written to the trigger, as by PUT /workflows/{workflow_id}/schedule; one that contradicts `nodes` of the same body is refused with 422",
    example: null,
  });
/** Values of a schedule trigger to change; those left out stay. */
export interface ScheduleChange {
  enabled?: boolean | undefined;
  cron_expression?: string | undefined;
  timezone?: string | undefined;
  default_input?: string | undefined;
}

/** A word that workflows are sorted by. A list of them in a query is separated by commas, so none has one. */
export const Tag = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .regex(/^[^,\p{Cc}]*$/u, "A tag is one line, with no comma in it.")
  .meta({ title: "Tag", description: "1 to 40 characters, without a comma", example: "news" });

export const MAX_TAGS = 20;
const tags = z
  .array(Tag)
  .max(MAX_TAGS, `At most ${MAX_TAGS} tags.`)
  .meta({ description: `Words to sort and find it by, at most ${MAX_TAGS}; one that differs in case only is the same`, example: ["news"] });

/** A folder of workflows: it is there as long as one is in it. */
export const Folder = z
  .string()
  .trim()
  .max(200)
  .regex(
    /^[^\s/]([^/\p{Cc}]*[^\s/])?(\/[^\s/]([^/\p{Cc}]*[^\s/])?){0,7}$/u,
    "Give names with a slash between them, such as Marketing/Weekly; at most 8.",
  )
  .meta({ title: "Folder", description: "Path of up to 8 names with a slash between them", example: "Marketing/Weekly" });
const folder = Folder.nullable().meta({ description: "Path of the folder that it is in, such as Marketing/Weekly; null for none" });

const summary = {
  id: Id,
  name: z.string().meta({ example: "Daily digest" }),
  description: z.string().meta({ example: "Sums up the news" }),
  enabled: z.boolean().meta({ description: "false silences schedule, webhook and HTTP trigger; execute still works" }),
  version: z.number().int().meta({ description: "Counts up at each save", example: 3 }),
  trigger: z.string().meta({ description: "Kind of the trigger node", example: "manual" }),
  error_workflow_id: Id.nullable().meta({
    description: "The workflow that is started when a run of this one fails; null takes the project's",
    example: null,
  }),
  tags,
  folder,
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const WorkflowSummary = z.object(summary).meta({ id: "WorkflowSummary" });
export type WorkflowSummary = z.infer<typeof WorkflowSummary>;

export const Workflow = z
  .object({
    ...summary,
    ...graphShape,
    schedule: ScheduleView.nullable().meta({ description: "null unless the trigger is a schedule", example: null }),
    ...problemsShape,
  })
  .meta({ id: "Workflow" });
export type Workflow = z.infer<typeof Workflow>;

/** The answer to a save of a workflow. */
export const UpdatedWorkflow = z
  .object({
    ...Workflow.shape,
    canvases_changed: z
      .object({
        items: z.array(z.object({ id: Id, name: z.string().meta({ example: "Sales" }) })).meta({ description: "The first 50" }),
        total: z.number().int().meta({ example: 1 }),
      })
      .meta({ description: "Canvases whose widgets follow the new label of an Output node", example: { items: [], total: 0 } }),
  })
  .meta({ id: "UpdatedWorkflow" });
export type UpdatedWorkflow = z.infer<typeof UpdatedWorkflow>;

/** A workflow as the list shows it. */
export const ListedWorkflow = z
  .object({
    ...summary,
    last_run: z
      .object({ id: Id, status: ExecutionStatus, created_at: Timestamp })
      .nullable()
      .meta({ description: "Its latest execution; null when it has none" }),
  })
  .meta({ id: "ListedWorkflow" });
export type ListedWorkflow = z.infer<typeof ListedWorkflow>;

const readable = z.object({ ...UpdatedWorkflow.shape, last_run: ListedWorkflow.shape.last_run });
const writable = {
  name: Name,
  description: Description,
  tags,
  folder,
  enabled: z.boolean(),
  error_workflow_id: summary.error_workflow_id,
  schedule: WrittenSchedule,
  ...graphInputShape,
};
export const CreateWorkflowInput = z.strictObject({
  ...ignoredFields(readable, writable),
  ...z.object(writable).partial().shape,
  name: Name,
});
export type CreateWorkflowInput = z.infer<typeof CreateWorkflowInput>;
export const UpdateWorkflowInput = z.strictObject({
  ...ignoredFields(readable, { ...writable, version: 0 }),
  workflow_id: Id,
  ...z.object(writable).partial().shape,
  version: z.number().int().min(1).optional().meta({
    description:
      "The version that you edited; an older one than the current is refused with 409, unless only renames of agents came after it, which are applied to your graph. Left out it overwrites",
  }),
  note: z.string().trim().max(1000).optional().meta({
    description: "What is new, in up to 1,000 characters: kept with the version that this makes",
    example: "Answers in French too",
  }),
});
export type UpdateWorkflowInput = z.infer<typeof UpdateWorkflowInput>;
export const WorkflowRef = z.strictObject({ workflow_id: Id });
export const WorkflowPage = pageOf(ListedWorkflow);

export const WorkflowSort = z.enum(["name", "-name", "updated", "-updated", "created", "-created", "last_run", "-last_run"]);
export type WorkflowSort = z.infer<typeof WorkflowSort>;

const filter = {
  q: searchQuery.q.meta({
    description: "Only those that have each of these words in their name, description, tags or folder",
    example: "digest",
  }),
  tag: z.string().trim().max(900).optional().meta({ description: "Only those with this tag; with all of several, by comma" }),
  folder: z
    .string()
    .trim()
    .max(200)
    .optional()
    .meta({ description: "Only those in this folder and in those within it; empty for those in none" }),
  enabled: z.boolean().optional().meta({ description: "Only those that are on, or off" }),
};
const WorkflowFilter = z.strictObject(filter).meta({ id: "WorkflowFilter" });
export type WorkflowFilter = z.infer<typeof WorkflowFilter>;

export const ListWorkflowsInput = z.strictObject({
  ...pageQuery,
  ...filter,
  sort: WorkflowSort.default("-created").meta({ description: "What they are sorted by; with a minus the other way round" }),
});
export type ListWorkflowsInput = z.infer<typeof ListWorkflowsInput>;

const counted = { count: z.number().int().meta({ description: "How many workflows", example: 4 }) };
/** What workflows can be filtered by, and how many there are of each. */
export const WorkflowFacets = z
  .object({
    folders: z.array(z.object({ folder: Folder, ...counted })).meta({ description: "In their order; those within it are counted apart" }),
    tags: z.array(z.object({ tag: Tag, ...counted })).meta({ description: "In their order", example: [{ tag: "news", count: 4 }] }),
    unfiled: z.number().int().meta({ description: "How many workflows are in no folder", example: 3 }),
    total: z.number().int().meta({ description: "How many workflows there are", example: 12 }),
  })
  .meta({ id: "WorkflowFacets" });
export type WorkflowFacets = z.infer<typeof WorkflowFacets>;

/** Most workflows that one request may change. */
export const MAX_BULK = 500;
export const BulkWorkflowsInput = z.strictObject({
  action: z.enum(["enable", "disable", "tag", "untag", "move", "delete"]).meta({ description: "What is done with each" }),
  ids: z
    .array(Id)
    .min(1)
    .max(MAX_BULK)
    .optional()
    .meta({ description: `The workflows, at most ${MAX_BULK}; or give a filter` }),
  filter: WorkflowFilter.optional().meta({ description: `Those that the list gives for it, when they are at most ${MAX_BULK}` }),
  tags: z
    .array(Tag)
    .min(1)
    .max(MAX_TAGS)
    .optional()
    .meta({ description: "For tag and untag: which", example: ["news"] }),
  folder: folder.optional().meta({ description: "For move: where to; null takes them out of their folder" }),
});
export type BulkWorkflowsInput = z.infer<typeof BulkWorkflowsInput>;

export const BulkResult = z
  .object({
    count: z.number().int().meta({ description: "How many it was done with", example: 3 }),
    failed: z
      .array(z.object({ id: Id, name: z.string().nullable(), message: z.string().meta({ description: "Why, and what to do" }) }))
      .meta({ description: "With which it could not be done; they are as they were", example: [] }),
  })
  .meta({ id: "WorkflowBulkResult" });
export type BulkResult = z.infer<typeof BulkResult>;

export const MoveFolderInput = z.strictObject({
  folder: Folder.meta({ description: "The folder that is renamed or moved, with those within it" }),
  to: Folder.nullable().meta({ description: "Its new path; null takes what is in it out of it", example: "Marketing/Monthly" }),
});
export type MoveFolderInput = z.infer<typeof MoveFolderInput>;
export const MovedFolder = z.object(counted).meta({ id: "MovedFolder" });

export const SetScheduleInput = z.strictObject({
  workflow_id: Id,
  ...ignoredFields(ScheduleView, { enabled: 0, cron_expression: 0, timezone: 0, default_input: 0 }),
  enabled: z.boolean().meta({ title: "Enabled" }),
  ...scheduleTimes,
});
export type SetScheduleInput = z.infer<typeof SetScheduleInput>;

/** What the editor opens: the saved workflow and the draft on top of it. Not part of the REST API. */
export const WorkflowDraft = z.object({
  ...graphShape,
  revision: z.number().int(),
  base_version: z.number().int(),
  updated_at: Timestamp,
  updated_by: z.string().nullable().meta({ description: "Name of who wrote it last" }),
  renamed_since: z
    .number()
    .int()
    .nullable()
    .meta({ description: "Revision after which only renames of agents were written; null for none" }),
  ...problemsShape,
});
export type WorkflowDraft = z.infer<typeof WorkflowDraft>;
export const WorkflowEditorState = z.object({ workflow: Workflow, draft: WorkflowDraft, is_draft_ahead: z.boolean() });
export type WorkflowEditorState = z.infer<typeof WorkflowEditorState>;
/** By which an open editor learns that somebody else has changed the workflow. */
export const WorkflowHead = z.object({ version: z.number().int(), ...WorkflowDraft.pick({ revision: true, updated_by: true }).shape });
export type WorkflowHead = z.infer<typeof WorkflowHead>;
export const SaveDraftInput = z.strictObject({
  workflow_id: Id,
  ...graphInputShape,
  revision: z.number().int().min(1).meta({ description: "The revision that this change was made from; an older one is refused with 409" }),
});
export type SaveDraftInput = z.infer<typeof SaveDraftInput>;

const VersionNumber = z.number().int().min(1).max(2_147_483_647).meta({ description: "Number of the version, from 1", example: 3 });
const count = (description: string, example: number) => z.number().int().meta({ description, example });

/** How much a save changed. */
export const VersionChanges = z
  .object({
    nodes_added: count("Nodes that the version before did not have", 1),
    nodes_changed: count("Nodes with another value in a field; a node that was only moved does not count", 2),
    nodes_removed: count("Nodes that the version before had", 0),
    edges_changed: count("Connections that were added, changed or removed", 2),
  })
  .meta({ id: "VersionChanges" });
export type VersionChanges = z.infer<typeof VersionChanges>;

const versionSummary = {
  version: VersionNumber,
  name: z.string().nullable().meta({ description: "What people call it; null when it has no name", example: "Before the rewrite" }),
  note: z.string().nullable().meta({ description: "What its publisher said of it; null for nothing", example: "Answers in French too" }),
  is_current: z.boolean().meta({ description: "Whether the API, schedules and webhooks run it now", example: true }),
  saved_by: z
    .object({ id: Id, name: z.string().meta({ example: "Ada Weaver" }) })
    .nullable()
    .meta({ description: "Who saved it; null when that account is gone" }),
  by: z.enum(["assistant", "rename"]).nullable().meta({
    description:
      "assistant: accepted proposals of the assistant are in it. rename: an agent was renamed, and the texts that read it follow",
    example: null,
  }),
  created_at: Timestamp,
  changes: VersionChanges.nullable().meta({
    description: "Against the version before it; null for the first one, and for saves from before this was counted",
  }),
};
export const WorkflowVersionSummary = z.object(versionSummary).meta({ id: "WorkflowVersionSummary" });
export type WorkflowVersionSummary = z.infer<typeof WorkflowVersionSummary>;

export const WorkflowVersion = z.object({ ...versionSummary, ...graphShape }).meta({ id: "WorkflowVersion" });
export type WorkflowVersion = z.infer<typeof WorkflowVersion>;

export const WorkflowVersionPage = pageOf(WorkflowVersionSummary);

export const ListVersionsInput = z.strictObject({ workflow_id: Id, ...pageQuery });
export type ListVersionsInput = z.infer<typeof ListVersionsInput>;

export const WorkflowVersionRef = z.strictObject({ workflow_id: Id, version: VersionNumber });
export type WorkflowVersionRef = z.infer<typeof WorkflowVersionRef>;

export const NameVersionInput = z.strictObject({
  ...ignoredFields(WorkflowVersion, { name: 0, version: 0 }),
  workflow_id: Id,
  version: VersionNumber,
  name: z
    .string()
    .trim()
    .max(120)
    .nullable()
    .meta({ description: "Up to 120 characters; null or empty takes the name away", title: "Name", example: "Before the rewrite" }),
});
export type NameVersionInput = z.infer<typeof NameVersionInput>;

/** A schedule as it is typed in the editor. */
export const PreviewScheduleInput = z.strictObject({
  cron_expression: z.string().max(120).meta({ description: "Cron with five fields" }),
  timezone: z.string().max(60).meta({ description: "IANA name" }),
});
export type PreviewScheduleInput = z.infer<typeof PreviewScheduleInput>;

export const SchedulePreview = z.object({
  timezone: z.string().meta({ description: "The zone that was asked about" }),
  next_fires: z.array(Timestamp).meta({ description: "The next five, none with a fault" }),
  fault: z
    .object({ field: z.enum(["cron_expression", "timezone"]), message: z.string() })
    .nullable()
    .meta({ description: "Why it cannot be used" }),
});
export type SchedulePreview = z.infer<typeof SchedulePreview>;

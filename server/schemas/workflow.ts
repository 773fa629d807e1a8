import { z } from "zod";
import { graphShape, Problem } from "#server/schemas/graph.ts";
import { Description, Id, ignoredFields, Name, pageOf, Timestamp } from "#server/schemas/primitives.ts";

/** Read-only view of a schedule trigger. */
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

const summary = {
  id: Id,
  name: z.string().meta({ example: "Daily digest" }),
  description: z.string().meta({ example: "Sums up the news" }),
  enabled: z.boolean().meta({ description: "false silences schedule, webhook and HTTP trigger; execute still works" }),
  version: z.number().int().meta({ description: "Counts up at each save", example: 3 }),
  trigger: z.string().meta({ description: "Kind of the trigger node", example: "manual" }),
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
    problems: z.array(Problem).meta({ description: "What would stop a run", example: [] }),
  })
  .meta({ id: "Workflow" });
export type Workflow = z.infer<typeof Workflow>;

const writable = { name: Name, description: Description, enabled: z.boolean(), ...graphShape };
export const CreateWorkflowInput = z.strictObject({
  ...ignoredFields(Workflow, writable),
  ...z.object(writable).partial().shape,
  name: Name,
});
export type CreateWorkflowInput = z.infer<typeof CreateWorkflowInput>;
export const UpdateWorkflowInput = z.strictObject({
  ...ignoredFields(Workflow, { ...writable, version: 0 }),
  workflow_id: Id,
  ...z.object(writable).partial().shape,
  version: z
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: "The version that you edited; an older one than the current is refused with 409, left out it overwrites" }),
});
export type UpdateWorkflowInput = z.infer<typeof UpdateWorkflowInput>;
export const WorkflowRef = z.strictObject({ workflow_id: Id });
export const WorkflowPage = pageOf(WorkflowSummary);

export const SetScheduleInput = z.strictObject({
  workflow_id: Id,
  ...ignoredFields(ScheduleView, { enabled: 0, cron_expression: 0, timezone: 0, default_input: 0 }),
  enabled: z.boolean().meta({ title: "Enabled" }),
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
});
export type SetScheduleInput = z.infer<typeof SetScheduleInput>;

/** What the editor opens: the saved workflow and the draft on top of it. Not part of the REST API. */
export const WorkflowDraft = z.object({
  ...graphShape,
  revision: z.number().int(),
  base_version: z.number().int(),
  updated_at: Timestamp,
  updated_by: z.string().nullable().meta({ description: "Name of who wrote it last" }),
  problems: z.array(Problem),
});
export type WorkflowDraft = z.infer<typeof WorkflowDraft>;
export const WorkflowEditorState = z.object({ workflow: Workflow, draft: WorkflowDraft, is_draft_ahead: z.boolean() });
export type WorkflowEditorState = z.infer<typeof WorkflowEditorState>;
/** By which an open editor learns that somebody else has changed the workflow. */
export const WorkflowHead = z.object({ version: z.number().int(), ...WorkflowDraft.pick({ revision: true, updated_by: true }).shape });
export type WorkflowHead = z.infer<typeof WorkflowHead>;
export const SaveDraftInput = z.strictObject({
  workflow_id: Id,
  ...graphShape,
  revision: z.number().int().min(1).meta({ description: "The revision that this change was made from; an older one is refused with 409" }),
});
export type SaveDraftInput = z.infer<typeof SaveDraftInput>;

import { z } from "zod";
import { graphShape } from "#server/schemas/graph.ts";
import { Id, ignoredFields, pageOf, pageQuery, Timestamp } from "#server/schemas/primitives.ts";

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

const summary = {
  version: VersionNumber,
  name: z.string().nullable().meta({ description: "What people call it; null when it has no name", example: "Before the rewrite" }),
  is_current: z.boolean().meta({ description: "Whether the API, schedules and webhooks run it now", example: true }),
  saved_by: z
    .object({ id: Id, name: z.string().meta({ example: "Ada Weaver" }) })
    .nullable()
    .meta({ description: "Who saved it; null when that account is gone" }),
  created_at: Timestamp,
  changes: VersionChanges.nullable().meta({
    description: "Against the version before it; null for the first one, and for saves from before this was counted",
  }),
};
export const WorkflowVersionSummary = z.object(summary).meta({ id: "WorkflowVersionSummary" });
export type WorkflowVersionSummary = z.infer<typeof WorkflowVersionSummary>;

export const WorkflowVersion = z.object({ ...summary, ...graphShape }).meta({ id: "WorkflowVersion" });
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

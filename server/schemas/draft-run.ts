import { z } from "zod";
import { runValues } from "#server/schemas/execution.ts";
import { Id } from "#server/schemas/primitives.ts";

/** A test run of the editor's draft. Not part of the REST API. */
export const RunDraftInput = z.strictObject({
  workflow_id: Id,
  ...runValues,
  until_node_id: z.string().min(1).max(100).optional().meta({ description: "Runs only this node and what it needs" }),
  from: z
    .strictObject({ execution_id: Id, node_id: z.string().min(1).max(100) })
    .optional()
    .meta({
      description: "Runs this node and what depends on it; of the rest, results of that execution are taken over where they still hold",
    }),
});
export type RunDraftInput = z.infer<typeof RunDraftInput>;

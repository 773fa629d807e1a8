import { z } from "zod";
import { Id } from "#server/schemas/primitives.ts";

export const LoopItemsInput = z.strictObject({
  execution_id: Id,
  node_id: z.string().min(1).max(100),
  iteration: z.string().max(200).default("").meta({ description: "Of a loop inside a loop: its own place" }),
});
export type LoopItemsInput = z.infer<typeof LoopItemsInput>;

/** How the items of a loop stand, in at most 200 cells of equal size. Not part of the REST API. */
export const LoopItems = z.object({
  total: z.number().int(),
  per_cell: z.number().int().meta({ description: "Items in each cell; the last one may have fewer" }),
  cells: z.array(
    z.object({
      complete: z.number().int(),
      failed: z.number().int(),
      skipped: z.number().int(),
      running: z.number().int(),
      waiting: z.number().int(),
      first_failed: z.number().int().nullable().meta({ description: "Index of the first failed item in the cell" }),
    }),
  ),
});
export type LoopItems = z.infer<typeof LoopItems>;

import { z } from "zod";
import { Timestamp } from "#server/schemas/primitives.ts";

/** The latest item that a node has worked on. */
export const LastItem = z.object({
  iteration: z.string(),
  status: z.enum(["complete", "failed"]),
  attempt: z.number().int(),
  started_at: Timestamp.nullable(),
  duration_ms: z.number().nullable(),
});
export type LastItem = z.infer<typeof LastItem>;

/** Of a node inside loops: what the items that it has worked on up to the last event took together, all tries counted. */
export const ItemSums = z.object({
  count: z.number().int(),
  duration_ms: z.number(),
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  last: LastItem.optional().meta({ description: "Where later items went another way" }),
});
export type ItemSums = z.infer<typeof ItemSums>;

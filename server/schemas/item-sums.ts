import { z } from "zod";

/** Of a node inside loops: what the items that it has worked on up to the last event took together, all tries counted. */
export const ItemSums = z.object({
  count: z.number().int(),
  duration_ms: z.number(),
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
});
export type ItemSums = z.infer<typeof ItemSums>;

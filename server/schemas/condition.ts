import { z } from "zod";

/** A Python condition as it is typed in the editor. */
export const CheckConditionInput = z.strictObject({ condition: z.string().max(10_000).meta({ description: "One Python expression" }) });
export type CheckConditionInput = z.infer<typeof CheckConditionInput>;

export const ConditionCheck = z.object({
  fault: z.string().nullable().meta({ description: "What is wrong with it, as a sentence" }),
});
export type ConditionCheck = z.infer<typeof ConditionCheck>;

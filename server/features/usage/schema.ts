import { z } from "zod";
import { ProviderId } from "#server/features/llm-keys/schema.ts";
import { TimeInput } from "#server/shared/primitives-schema.ts";

/** The most days that one question may span. */
export const MOST_DAYS = 366;
/** Days that are told when the question names none. */
export const USUAL_DAYS = 30;

const Day = z.iso.date();
export const UsageGroup = z.enum(["day", "agent", "workflow", "model", "source"]);
export type UsageGroup = z.infer<typeof UsageGroup>;

export const UsageInput = z.strictObject({
  from: TimeInput.optional().meta({
    description: `First day: a date, or a date-time whose UTC day counts; left out, ${USUAL_DAYS} days up to \`to\``,
    example: "2026-11-01",
  }),
  to: TimeInput.optional().meta({
    description: `Last day, included: a date, or a date-time whose UTC day counts; left out, today. At most ${MOST_DAYS} days`,
    example: "2026-11-30",
  }),
  group_by: UsageGroup.default("day").meta({ description: "What the items are", example: "day" }),
});
export type UsageInput = z.infer<typeof UsageInput>;

const amount = {
  calls: z
    .number()
    .int()
    .meta({ description: "Calls of agents, each with all its rounds, of embedding models, and of the assistant’s model", example: 12 }),
  calls_without_price: z.number().int().meta({ description: "Calls whose price is not known; `cost` is without them", example: 0 }),
  input_tokens: z.number().int().meta({ example: 4100 }),
  output_tokens: z.number().int().meta({ example: 930 }),
  cost: z
    .number()
    .nullable()
    .meta({ description: "USD, of the calls whose price is known; null when nothing of it is known", example: 0.003128 }),
  cost_is_partial: z.boolean().meta({ description: "true when `calls_without_price` is not 0", example: false }),
};
export const UsageAmount = z.object(amount).meta({ id: "UsageAmount" });
export type UsageAmount = z.infer<typeof UsageAmount>;

export const UsageItem = z
  .object({
    key: z.string().nullable().meta({
      description: "The day, the agent's or workflow's id, the model, or run, chat, knowledge or assistant; null for no workflow or agent",
      example: "2026-11-21",
    }),
    name: z.string().nullable().meta({ description: "Of an agent or workflow; null when it is gone", example: null }),
    provider: ProviderId.nullable().meta({ description: "Of a model", example: null }),
    ...amount,
  })
  .meta({ id: "UsageItem" });
export type UsageItem = z.infer<typeof UsageItem>;

export const Usage = z
  .object({
    from: Day.meta({ example: "2026-11-01" }),
    to: Day.meta({ example: "2026-11-30" }),
    group_by: UsageGroup,
    currency: z.literal("USD"),
    prices_as_of: Day.meta({ description: "Day of the built-in price list", example: "2026-10-07" }),
    total: UsageAmount,
    items: z.array(UsageItem).meta({ description: "Every day of the time in order; else the costliest first, at most 1,000" }),
  })
  .meta({ id: "Usage" });
export type Usage = z.infer<typeof Usage>;

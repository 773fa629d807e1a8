import { z } from "zod";
import { ModelPrice, ProviderId } from "#server/features/llm-keys/schema.ts";
import { Id, ignoredFields, Timestamp } from "#server/shared/primitives-schema.ts";

export const BudgetScope = z
  .enum(["project", "agent", "llm_key"])
  .meta({ id: "BudgetScope", description: "What is limited: everything, one agent, or all calls with one LLM key", example: "project" });
export type BudgetScope = z.infer<typeof BudgetScope>;

export const BudgetAction = z.enum(["pause", "stop"]).meta({
  id: "BudgetAction",
  description:
    "What happens at the limit. pause: a run waits for an admin, who may let it spend more; stop: it fails. Chats, tests, knowledge and the assistant do not wait, they say so",
  example: "pause",
});
export type BudgetAction = z.infer<typeof BudgetAction>;

/** USD of a limit or an allowance. */
const Amount = z.number().min(0.01, "Name an amount of at least $0.01.").max(1_000_000, "Name an amount of at most $1,000,000.");

const given = {
  scope: BudgetScope,
  id: Id.optional().meta({ description: "Of the agent or the LLM key; left out for the project" }),
  monthly_limit: Amount.meta({ title: "Monthly limit", description: "USD in a calendar month (UTC)", example: 50 }),
  action: BudgetAction,
};

export const Budget = z
  .object({
    ...given,
    name: z.string().meta({ description: "Of the project, the agent or the LLM key", example: "Writer" }),
    spent: z.number().meta({
      description: "USD since the month began, of calls whose price is known; more than the limit after an admin has allowed that",
      example: 3.2,
    }),
    resets_at: Timestamp.meta({ description: "When the month ends", example: "2026-12-01T00:00:00.000Z" }),
  })
  .meta({ id: "Budget" });
export type Budget = z.infer<typeof Budget>;

/** The most budgets of a project. */
export const MOST_BUDGETS = 200;

export const BudgetList = z.object({ items: z.array(Budget).meta({ description: "The project's first, then by name" }) });
export type BudgetList = z.infer<typeof BudgetList>;

export const BudgetInput = z.strictObject({ ...ignoredFields(Budget, given), ...given });
export type BudgetInput = z.infer<typeof BudgetInput>;
export const BudgetsInput = z.strictObject({
  items: z.array(BudgetInput).max(MOST_BUDGETS).meta({
    description: "All of them: one that is left out is removed",
  }),
});
export type BudgetsInput = z.infer<typeof BudgetsInput>;

/** What agents or LLM keys have cost this month, for their pages. Not part of the REST API. */
export const SpentInput = z.strictObject({ scope: z.enum(["agent", "llm_key"]), ids: z.array(Id).max(200) });
export type SpentInput = z.infer<typeof SpentInput>;
export const Spent = z.object({
  /** Those that the project has. */
  items: z.array(z.object({ id: Id, spent: z.number(), monthly_limit: z.number().nullable() })),
});
export type Spent = z.infer<typeof Spent>;

/** What approving a run that waits for its budget lets it spend. */
export const Allowance = Amount.meta({
  title: "Allow a further",
  description: "Of a run that waits for a budget (kind budget): how much more it may spend, in USD. Only an admin can approve that",
  example: 1,
});

/** How it stands with what a run waits for. */
export const BudgetQuestion = z
  .object({
    run_spent: z.number().meta({ description: "USD that the run has cost so far, of calls whose price is known", example: 0.42 }),
    budgets: z.array(Budget).meta({ description: "Those that are used up now" }),
  })
  .meta({ id: "BudgetQuestion" });
export type BudgetQuestion = z.infer<typeof BudgetQuestion>;

/** How an approval or a rejection is kept. */
export const BudgetVerdict = z.object({
  decision: z.enum(["approved", "rejected"]),
  choice: z.string().optional(),
  comment: z.string().nullable(),
  /** What was allowed; null when the budget had room again by itself. */
  amount: z.number().nullable(),
});
export type BudgetVerdict = z.infer<typeof BudgetVerdict>;

// ---------------------------------------------------------------- prices

/** The most prices of a project, those of its LLM keys included. */
const MOST_PRICES = 500;

export const Price = ModelPrice.extend({
  provider: ProviderId,
  llm_key_id: Id.nullable().meta({ description: "Of the LLM key for which alone it holds; null for all of the provider", example: null }),
}).meta({ id: "Price" });
export type Price = z.infer<typeof Price>;

const PriceInput = Price.extend({ llm_key_id: Price.shape.llm_key_id.default(null) });
export const PricesInput = z.strictObject({
  items: z.array(PriceInput).max(MOST_PRICES).meta({
    description: "All of them: one that is left out is removed. They count for calls from now on; costs on record stay",
  }),
});
export type PricesInput = z.infer<typeof PricesInput>;

export const PriceList = z
  .object({
    items: z.array(Price).meta({
      description: "The project's own, those of single LLM keys included. A key's come first, then the project's, then the built-in list",
    }),
    built_in: z.object({
      as_of: z.iso.date().meta({ example: "2026-10-07" }),
      items: z.array(
        ModelPrice.extend({
          provider: ProviderId,
          host: z.string().nullable().meta({ description: "Of the endpoint, of services that are reached by a base URL", example: null }),
          input_up_to: z
            .number()
            .nullable()
            .meta({ description: "A call with more input tokens has another price, which is not known", example: null }),
        }).meta({ id: "BuiltInPrice" }),
      ),
    }),
  })
  .meta({ id: "PriceList" });
export type PriceList = z.infer<typeof PriceList>;

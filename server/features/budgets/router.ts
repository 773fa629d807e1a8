import { getPrices, setPrices } from "#server/features/budgets/prices.ts";
import { BudgetList, BudgetsInput, PriceList, PricesInput, Spent, SpentInput } from "#server/features/budgets/schema.ts";
import { getBudgets, getSpent, setBudgets } from "#server/features/budgets/service.ts";
import { adminProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { Nothing } from "#server/shared/primitives-schema.ts";

const tag = "Usage";

export const budgetsRouter = router({
  list: adminProcedure
    .meta(
      endpoint("GET", "/budgets", {
        tag,
        summary: "Read the budgets",
        description:
          "What the project, its agents and its LLM keys may cost in a calendar month (UTC), and what they have cost in this one.",
      }),
    )
    .input(Nothing)
    .output(BudgetList)
    .query(({ ctx }) => getBudgets(ctx.principal)),
  set: adminProcedure
    .meta(
      endpoint("PUT", "/budgets", {
        tag,
        summary: "Set the budgets",
        description: `Takes the place of all budgets. Each call of a model is checked first against those of the project, its agent and its LLM key. At the limit, \`pause\` \
makes a run wait: \`GET /reviews\` shows it with \`kind\` budget, and an admin approves it with an \`amount\` that the run may spend further; it goes on by itself when the \
budget is raised or a month begins, and fails after seven days. \`stop\` makes it fail, whatever it was allowed. Calls whose price is not known count as 0. Calls that are under way count as \
estimated, so that many at once exceed a limit by no more than the one that reaches it, and what they cost beyond their estimates. Admins are told at 80 % and at the limit.`,
      }),
    )
    .input(BudgetsInput)
    .output(BudgetList)
    .mutation(({ ctx, input }) => setBudgets(ctx.principal, input)),
  prices: viewerProcedure
    .meta(
      endpoint("GET", "/prices", {
        tag,
        summary: "Read the prices",
        description:
          "Prices of the project and of its LLM keys, in US dollars for a million tokens, and the built-in list that holds where they say nothing.",
      }),
    )
    .input(Nothing)
    .output(PriceList)
    .query(({ ctx }) => getPrices(ctx.principal)),
  setPrices: adminProcedure
    .meta(
      endpoint("PUT", "/prices", {
        tag,
        summary: "Set the prices",
        description:
          "Takes the place of all prices that the project has set, those of single LLM keys included. They count for calls from now on.",
      }),
    )
    .input(PricesInput)
    .output(PriceList)
    .mutation(({ ctx, input }) => setPrices(ctx.principal, input)),
  // The web UI only: a line on the page of an agent or an LLM key.
  spent: viewerProcedure
    .input(SpentInput)
    .output(Spent)
    .query(({ ctx, input }) => getSpent(ctx.principal, input)),
});

import type pg from "pg";
import { monthOf, nextMonth, type OverBudget, usedUp } from "#server/features/budgets/over-budget.ts";
import type { Budget, BudgetQuestion, BudgetVerdict } from "#server/features/budgets/schema.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { type FullBudget, releasableWaits, waitedFor } from "#server/runs/store/budget-waits.ts";
import { type ResolvedWait, resolveWait } from "#server/runs/store/waits.ts";
import { wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import type { WaitRequest } from "#server/workflow/nodes/definition.ts";
import { ReviewTerms } from "#server/workflow/nodes/review-terms.ts";

// A run that a budget stops waits in a row of `waits`, like any other (decision 23). It goes on when an admin lets it spend more, or
// when the budget has room again: it was raised, or a month has begun.

/** How long a run waits for that, in milliseconds. */
const LONGEST_WAIT = 7 * 86_400_000;

/** What a node waits for whose agent stands before a call that a budget does not allow. */
export function waitForBudget(over: OverBudget, now = new Date()): WaitRequest {
  const { agent_id, llm_key_id } = over.payer;
  return {
    reason: "budget",
    deadline: new Date(now.getTime() + LONGEST_WAIT),
    title: "Spend more than the budget?",
    description: over.budgets.map((budget) => usedUp(budget, now)).join("\n\n"),
    display_value: "",
    notification_email: null,
    text: null,
    terms: ReviewTerms.parse({
      assignees: [{ kind: "role", value: "admin" }],
      choices: [
        { id: "approved", label: "Allow", style: "primary" },
        { id: "rejected", label: "Do not allow", style: "danger" },
      ],
    }),
    remind_at: null,
    request: { agent_id, llm_key_id, said: over.said },
  };
}

/**
 * How it stands now with what a run waits for.
 * @param wait_id of one that the caller may see
 */
export async function budgetQuestion(wait_id: string, project_name: string, now = new Date()): Promise<BudgetQuestion> {
  const { run_spent, budgets } = await waitedFor(wait_id, monthOf(now));
  return { run_spent, budgets: budgets.map((row) => budgetDto(row, project_name, now)) };
}

/** A budget as the API shows it. */
export function budgetDto(
  { scope, agent_id, llm_key_id, name, action, monthly_limit, spent }: FullBudget,
  project_name: string,
  now: Date,
): Budget {
  const id = agent_id ?? llm_key_id;
  return {
    scope,
    ...(id !== null && { id }),
    name: name ?? project_name,
    monthly_limit,
    action,
    spent,
    resets_at: nextMonth(now).toISOString(),
  };
}

/** How many runs are let go on at once: each shows what room is left for the next. */
const AT_ONCE = 20;

/**
 * Lets runs go on whose budgets have room again, or which may spend more since another of their nodes was allowed to.
 * @param project_id only those of this project
 */
export async function releaseWaits(project_id: string | null = null, now = new Date()): Promise<void> {
  const outcome: BudgetVerdict = { decision: "approved", comment: null, amount: null };
  const by = { via: "budget", id: null, email: null, name: null, role: null };
  const released: ResolvedWait[] = [];
  for (const id of await releasableWaits(project_id, monthOf(now), AT_ONCE)) {
    const wait = await resolveWait({ id, reason: "budget", outcome, by });
    if (wait) released.push(wait);
  }
  wakeEnded(released);
}

const ALLOW = `
  INSERT INTO budget_allowances AS a (execution_id, amount) VALUES ($1, $2::numeric)
  ON CONFLICT (execution_id) DO UPDATE SET amount = greatest(a.amount, a.spent + a.held) + excluded.amount`;

/** Lets a run spend so much more, US dollars, within the transaction that approves it. */
export async function allowMore(client: Pick<pg.ClientBase, "query">, execution_id: string, amount: number): Promise<void> {
  await client.query(ALLOW, [execution_id, amount]);
}

/**
 * What an answer to a run that waits for a budget lets it spend; null for a rejection.
 * @throws AppError PERMISSION_DENIED for the assistant; VALIDATION_ERROR for an approval without an amount
 */
export function amountMeant(decision: BudgetVerdict["decision"], amount: number | undefined, auth: { type: string }): number | null {
  if (auth.type === "assistant")
    throw new AppError(
      "PERMISSION_DENIED",
      "The assistant does not spend more than a budget allows for anybody. Decide it in the web app.",
    );
  if (decision === "rejected") return null;
  if (amount !== undefined) return amount;
  const message = "Say with amount how much more the run may spend, in US dollars.";
  throw invalidField("amount", message, `amount: ${message}`);
}

import { monthOf, nextMonth, type OverBudget, usedUp } from "#server/features/budgets/over-budget.ts";
import type { Budget, BudgetVerdict } from "#server/features/budgets/schema.ts";
import { recordAuditOn } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { type FullBudget, releasableWaits } from "#server/runs/store/budget-waits.ts";
import { type ResolvedWait, resolveWait } from "#server/runs/store/waits.ts";
import { wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import type { WaitRequest } from "#server/workflow/nodes/definition.ts";

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
    request: { agent_id, llm_key_id, said: over.said },
  };
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

interface Decision {
  decision: BudgetVerdict["decision"];
  amount?: number | undefined;
  comment?: string | undefined;
}

/**
 * Lets a run that waits for a budget spend more, or has the node fail that waits.
 * @param via how the decision came
 * @returns false when it does not wait any more
 * @throws AppError PERMISSION_DENIED for anybody but an admin; VALIDATION_ERROR without an amount
 */
export async function decideBudget(principal: ProjectPrincipal, wait_id: string, via: string, input: Decision): Promise<boolean> {
  const { decision, amount = null, comment } = input;
  if (principal.role !== "admin" || principal.auth.type === "assistant")
    throw new AppError("PERMISSION_DENIED", "Only an admin of the project decides whether a run may spend more than its budget.");
  if (decision === "approved" && amount === null) {
    const message = "Say with amount how much more the run may spend, in US dollars.";
    throw new AppError("VALIDATION_ERROR", `amount: ${message}`, { errors: [{ path: "amount", message }] });
  }
  const outcome: BudgetVerdict = { decision, comment: comment?.trim() || null, amount: decision === "approved" ? amount : null };
  const by = { ...principal.user, role: principal.role, via };
  const decided = await inTransaction(async (client) => {
    const wait = await resolveWait({ id: wait_id, reason: "budget", outcome, by }, client);
    if (!wait) return undefined;
    const { execution_id, node_id, label } = wait;
    if (outcome.amount !== null) await client.query(ALLOW, [execution_id, outcome.amount]);
    await recordAuditOn(client, principal, {
      action: decision === "approved" ? "budget.allow" : "budget.refuse",
      resource_type: "review",
      resource_id: wait_id,
      resource_name: label,
      detail: { execution_id, node_id, ...(outcome.amount !== null && { amount: outcome.amount }) },
    });
    return wait;
  });
  if (!decided) return false;
  wakeEnded([decided]);
  // The allowance is the run's, whichever of its nodes wait.
  if (outcome.amount !== null) await releaseWaits(decided.project_id);
  return true;
}

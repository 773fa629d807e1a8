import type { Payer } from "#server/features/budgets/holds.ts";
import type { BudgetAction, BudgetScope } from "#server/features/budgets/schema.ts";
import type { ChatMessage } from "#server/llm/chat-body.ts";
import { AppError } from "#server/platform/errors.ts";

/** A budget as it stands against a call. */
export interface BudgetState {
  id: string;
  scope: BudgetScope;
  /** Of the agent or the LLM key. */
  name: string | null;
  action: BudgetAction;
  monthly_limit: number;
  spent: number;
  /** Of calls under way, as they are estimated. */
  held: number;
}

/** The first moment of the month after the one that a time is in, UTC. */
export const nextMonth = (now: Date): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
/** The first day of its own month, as `2026-11-01`. */
export const monthOf = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`;

/** An amount in words; cents do where there are some. */
export const usd = (amount: number): string => `$${amount === 0 || amount >= 0.01 ? amount.toFixed(2) : amount.toPrecision(2)}`;

/** Whose budget it is. */
export const budgetName = ({ scope, name }: Pick<BudgetState, "scope" | "name">): string =>
  scope === "project" ? "The budget of this project" : `The budget of the ${scope === "agent" ? "agent" : "LLM key"} “${name ?? ""}”`;

/** How it stands with a budget that is used up, and what can be done. */
export function usedUp(budget: BudgetState, now: Date): string {
  const { spent, monthly_limit } = budget;
  const rest = spent < monthly_limit ? ", and the rest is held for calls under way" : "";
  return `${budgetName(budget)} is used up: ${usd(spent)} of ${usd(monthly_limit)} spent this month${rest}. It begins anew on ${nextMonth(now).toISOString().slice(0, 10)} (UTC); an admin of the project can raise it in Settings, Budgets.`;
}

/** A call of a model that is not made, because a budget is used up. */
export class OverBudget extends AppError {
  override name = "OverBudget";
  /** Those that are used up; the one that says what happens comes first. */
  readonly budgets: readonly BudgetState[];
  /** The conversation that the call would have gone on with. */
  readonly messages: readonly ChatMessage[];
  /** Who would have paid. */
  readonly payer: Payer;
  /** Of the messages, what has been said since an agent was asked. */
  said: readonly ChatMessage[] = [];

  constructor(budgets: readonly BudgetState[], payer: Payer, messages: readonly ChatMessage[], now: Date) {
    // One that stops has the last word: nobody need be asked about the others.
    const ordered = budgets.toSorted((a, b) => Number(b.action === "stop") - Number(a.action === "stop"));
    super("CONFLICT", ordered.map((budget) => usedUp(budget, now))[0] ?? "A budget is used up.");
    this.budgets = ordered;
    this.payer = payer;
    this.messages = messages;
  }

  /** Whether a run waits for an admin, and does not fail. */
  get isPause(): boolean {
    return this.budgets.every(({ action }) => action === "pause");
  }
}

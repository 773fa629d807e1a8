import { LRUCache } from "lru-cache";
import { v5 as uuidOf } from "uuid";
import { type BudgetState, budgetName, monthOf, usd } from "#server/features/budgets/over-budget.ts";
import { notify } from "#server/features/notifications/notify.ts";
import { db } from "#server/platform/db/client.ts";

/** From which part of a limit admins are told. */
const LEVELS = [1, 0.8] as const;

/** What is told gets an id of its own for each budget, month and level: nobody is told of it twice. */
const SUBJECTS = "0b0f3a52-6a3e-5d4a-9f0e-3f1c6f6f0a33";

/** What this process has told, so that every call after it asks for no members. */
const told = new LRUCache<string, true>({ max: 5000 });

/** Tells admins of a budget of which four fifths are spent, and once more when all is: each once in a month. */
export async function tellSpent(budget: BudgetState & { project_id: string }, now: Date): Promise<void> {
  const { id, project_id, spent, monthly_limit, action } = budget;
  const level = LEVELS.find((part) => spent >= monthly_limit * part);
  if (level === undefined) return;
  const subject = uuidOf(`${id} ${monthOf(now)} ${level}`, SUBJECTS);
  if (told.has(subject)) return;
  const admins = await db().membership.findMany({ where: { project_id, role: "admin" }, select: { user_id: true } });
  const amounts = `${usd(spent)} of ${usd(monthly_limit)} this month`;
  const next = action === "pause" ? "runs wait for an admin" : "runs stop at their next call of a model";
  const title =
    level === 1 ? `${budgetName(budget)} is used up (${amounts}): ${next}` : `${budgetName(budget)} is spent to 80 % (${amounts})`;
  await notify(db(), admins, { project_id, kind: "budget", subject_id: subject, title, link: "/settings/budgets" });
  told.set(subject, true);
}

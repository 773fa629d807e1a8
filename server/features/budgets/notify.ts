import { LRUCache } from "lru-cache";
import { v7 as uuid, v5 as uuidOf } from "uuid";
import { type BudgetState, budgetName, monthOf, usd } from "#server/features/budgets/over-budget.ts";
import { db, pool } from "#server/platform/db/client.ts";

/** From which part of a limit admins are told. */
const LEVELS = [1, 0.8] as const;

/** What is told gets an id of its own for each budget, month and level: nobody is told of it twice. */
const SUBJECTS = "0b0f3a52-6a3e-5d4a-9f0e-3f1c6f6f0a33";

/** What this process has told, so that every call after it asks for no members. */
const told = new LRUCache<string, true>({ max: 5000 });

const TELL = `
  INSERT INTO notifications (id, user_id, project_id, kind, subject_id, title, link)
  SELECT id, user_id, $3::uuid, 'budget', $4::uuid, $5, '/settings/budgets' FROM unnest($1::uuid[], $2::uuid[]) AS m(id, user_id)
  ON CONFLICT (subject_id, kind, user_id) DO NOTHING`;

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
  await pool().query(TELL, [admins.map(() => uuid()), admins.map(({ user_id }) => user_id), project_id, subject, title]);
  told.set(subject, true);
}

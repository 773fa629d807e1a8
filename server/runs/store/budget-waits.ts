import type { BudgetAction, BudgetScope } from "#prisma/generated/enums.ts";
import { pool } from "#server/platform/db/client.ts";

// Waits for budgets, read beside the budgets that they are for.

/** SQL: whether a call counts against a budget `b`, by expressions for its project, its agent and its LLM key. */
export const isAsked = (project: string, agent: string, key: string): string =>
  `b.project_id = ${project} AND (b.scope = 'project' OR b.agent_id = ${agent} OR b.llm_key_id = ${key})`;
/** SQL: what of a budget `b` was spent in the month that begins then. */
export const spentIn = (month: string): string => `CASE WHEN b.month >= ${month}::date THEN b.spent ELSE 0 END`;
/** SQL: a column with the name of the agent or the LLM key that a budget `b` is for. */
export const BUDGET_NAME =
  "coalesce((SELECT name FROM agents WHERE id = b.agent_id), (SELECT name FROM llm_keys WHERE id = b.llm_key_id)) AS name";

/** A budget `b` that is used up, of those that a wait `w` waits for. */
const IS_FULL = `${isAsked("w.project_id", "(w.request->>'agent_id')::uuid", "(w.request->>'llm_key_id')::uuid")} AND ${spentIn("$1")} + b.held >= b.monthly_limit`;

const SAID = `
  SELECT request->'said' AS said FROM waits
  WHERE execution_id = $1 AND node_id = $2 AND iteration = $3 AND reason = 'budget' ORDER BY id DESC LIMIT 1`;

/** What model and tools had said when a budget last stopped a node's call; nothing of one that none has stopped. */
export async function saidBefore(at: { execution_id: string; node_id: string; iteration: string }): Promise<unknown[]> {
  const values = [at.execution_id, at.node_id, at.iteration];
  const { rows } = await pool().query<{ said: unknown[] | null }>({ name: "budget-said", text: SAID, values });
  return rows[0]?.said ?? [];
}

/** A budget that a run waits for. */
export interface FullBudget {
  scope: BudgetScope;
  agent_id: string | null;
  llm_key_id: string | null;
  name: string | null;
  action: BudgetAction;
  monthly_limit: number;
  spent: number;
}

const QUESTION = `
  SELECT e.cost::float8 AS run_spent, b.id, b.scope, b.agent_id, b.llm_key_id, ${BUDGET_NAME}, b.action, b.monthly_limit::float8,
    ${spentIn("$1")}::float8 AS spent
  FROM waits w JOIN executions e ON e.id = w.execution_id LEFT JOIN budgets b ON ${IS_FULL}
  WHERE w.id = $2 AND w.reason = 'budget' ORDER BY b.id`;

/**
 * What a run has cost that waits for a budget, and which of its budgets are used up.
 * @param month its first day
 */
export async function waitedFor(wait_id: string, month: string): Promise<{ run_spent: number; budgets: FullBudget[] }> {
  const { rows } = await pool().query<FullBudget & { id: string | null; run_spent: number | null }>(QUESTION, [month, wait_id]);
  return { run_spent: rows[0]?.run_spent ?? 0, budgets: rows.filter(({ id }) => id !== null) };
}

const RELEASABLE = `
  SELECT w.id FROM waits w
  WHERE w.reason = 'budget' AND w.status = 'waiting' AND w.deadline > now() AND ($2::uuid IS NULL OR w.project_id = $2) AND (
    NOT EXISTS (SELECT FROM budgets b WHERE ${IS_FULL})
    OR EXISTS (SELECT FROM budget_allowances a WHERE a.execution_id = w.execution_id AND a.spent + a.held < a.amount))
  ORDER BY w.id LIMIT $3`;

/** Ids of waits whose budgets have room again, or whose runs may spend more; of one project, or of all. */
export async function releasableWaits(project_id: string | null, month: string, most: number): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(RELEASABLE, [month, project_id, most]);
  return rows.map(({ id }) => id);
}

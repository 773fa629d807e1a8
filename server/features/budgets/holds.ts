import { v7 as uuid } from "uuid";
import { tellSpent } from "#server/features/budgets/notify.ts";
import { type BudgetState, monthOf } from "#server/features/budgets/over-budget.ts";
import { pool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { BUDGET_NAME, isAsked, spentIn } from "#server/runs/store/budget-waits.ts";

// A budget's row says what was spent this month and what is held for calls under way. Before a call its estimate is added to what
// is held, if by then less than the limit is spent or held; afterwards it gives way to what the call cost. Each is one statement
// that locks the budgets first, always in the same order: however many calls begin at once, each sees those before it. Decision 33.

/** Who pays for a call. */
export interface Payer {
  project_id: string;
  /** NO_ONE for a call that no agent makes. */
  agent_id: string;
  llm_key_id: string;
  /** The run that makes it. */
  execution_id?: string | undefined;
  /** Message to the assistant that it is made for. */
  message_id?: string | undefined;
}

// What stands in a hold is an estimate, and one that is lost with the database's machine was never spent: nobody waits for the disk.
const QUIET = "quiet AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))";

const HOLD = `
  WITH ${QUIET}, asked AS MATERIALIZED (
    SELECT b.id, b.scope, b.agent_id, b.llm_key_id, b.action, b.monthly_limit, b.held, ${spentIn("$5")} AS spent
    FROM quiet, budgets b WHERE ${isAsked("$1::uuid", "$2::uuid", "$3::uuid")} ORDER BY b.id FOR UPDATE OF b
  ), allowance AS MATERIALIZED (
    SELECT execution_id FROM budget_allowances
    WHERE execution_id = $4::uuid AND spent + held < amount AND EXISTS (SELECT FROM asked) FOR UPDATE
  ), verdict AS MATERIALIZED (
    SELECT bool_and(spent + held < monthly_limit) AS is_free,
      EXISTS (SELECT FROM allowance) AND bool_and(action = 'pause' OR spent + held < monthly_limit) AS is_allowed FROM asked
  ), held AS (
    UPDATE budgets b SET held = b.held + $6::numeric, spent = asked.spent, month = greatest(b.month, $5::date)
    FROM asked, verdict WHERE b.id = asked.id AND (is_free OR is_allowed) RETURNING b.id
  ), charged AS (
    UPDATE budget_allowances a SET held = a.held + $6::numeric FROM verdict
    WHERE a.execution_id = $4::uuid AND NOT is_free AND is_allowed RETURNING a.execution_id
  ), kept AS (
    INSERT INTO budget_holds (id, budget_ids, execution_id, amount, expires_at)
    SELECT $7::uuid, array_agg(id), (SELECT execution_id FROM charged), $6::numeric, now() + $8::int * interval '1 second'
    FROM held HAVING count(*) > 0
  )
  SELECT b.id, b.scope, ${BUDGET_NAME}, b.action, b.monthly_limit::float8, b.spent::float8, b.held::float8,
    (SELECT is_free OR is_allowed FROM verdict) AS may_begin
  FROM asked b`;

const SETTLE = `
  WITH ${QUIET}, gone AS (
    DELETE FROM budget_holds USING quiet WHERE id = $1::uuid RETURNING budget_ids, execution_id, amount
  ), asked AS MATERIALIZED (
    SELECT b.id, ${spentIn("$3")} AS spent FROM budgets b
    WHERE b.id IN (SELECT unnest(budget_ids) FROM gone) ORDER BY b.id FOR UPDATE OF b
  ), settled AS (
    UPDATE budgets b SET held = greatest(0, b.held - gone.amount), spent = asked.spent + $2::numeric, month = greatest(b.month, $3::date)
    FROM asked, gone WHERE b.id = asked.id
    RETURNING b.id, b.project_id, b.scope, b.agent_id, b.llm_key_id, b.action, b.monthly_limit, b.spent, b.held
  ), charged AS (
    UPDATE budget_allowances a SET held = greatest(0, a.held - gone.amount), spent = a.spent + $2::numeric
    FROM gone WHERE a.execution_id = gone.execution_id
  )
  SELECT b.id, b.project_id, b.scope, ${BUDGET_NAME}, b.action, b.monthly_limit::float8, b.spent::float8, b.held::float8 FROM settled b`;

/** How long a call may take whose hold stands, in seconds: longer than any is allowed to. */
const LONGEST_CALL = 3 * 3600;

/** A call that may be made, and is to be settled with what it cost. */
export interface Hold {
  /** Counts what it cost, US dollars. Never throws: the answer is worth more than its count, and what is not settled counts as estimated. */
  settle(cost: number): Promise<void>;
}

/**
 * Holds the estimated cost of a call in every budget that it counts against. What begins while less than the limit is spent or held
 * may begin: so a budget is exceeded by no more than the call that reaches its limit, and what calls under way cost beyond their estimates.
 * @param estimate in US dollars
 * @returns the hold, or those budgets that are used up; undefined when there is no budget
 */
export async function hold(payer: Payer, estimate: number, now = new Date()): Promise<Hold | BudgetState[] | undefined> {
  const { project_id, agent_id, llm_key_id, execution_id = null } = payer;
  const id = uuid();
  const values = [project_id, agent_id, llm_key_id, execution_id, monthOf(now), estimate, id, LONGEST_CALL];
  const { rows } = await pool().query<BudgetState & { may_begin: boolean }>({ name: "budget-hold", text: HOLD, values });
  if (rows.length === 0) return undefined;
  if (!rows[0]?.may_begin) return rows.filter(({ spent, held, monthly_limit }) => spent + held >= monthly_limit);
  return { settle: (cost) => settle(id, cost) };
}

async function settle(id: string, cost: number, now = new Date()): Promise<void> {
  try {
    const values = [id, cost, monthOf(now)];
    const { rows } = await pool().query<BudgetState & { project_id: string }>({ name: "budget-settle", text: SETTLE, values });
    for (const row of rows) await tellSpent(row, now);
  } catch (error) {
    log.warn({ err: error }, "what a call cost could not be counted in its budgets; its estimate will count");
  }
}

const BATCH = 200;

/** Counts calls whose end nobody has told, since their process died, as they were estimated. */
export async function settleForgotten(now = new Date()): Promise<void> {
  const { rows } = await pool().query<{ id: string; amount: number }>(
    "SELECT id, amount::float8 FROM budget_holds WHERE expires_at < $1 ORDER BY expires_at LIMIT $2",
    [now, BATCH],
  );
  for (const { id, amount } of rows) await settle(id, amount, now);
}

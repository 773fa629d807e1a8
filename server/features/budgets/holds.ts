import { v7 as uuid } from "uuid";
import { tellSpent } from "#server/features/budgets/notify.ts";
import { type BudgetState, monthOf } from "#server/features/budgets/over-budget.ts";
import { pool } from "#server/platform/db/client.ts";
import { named, raw, sql } from "#server/platform/db/sql.ts";
import { log } from "#server/platform/log.ts";
import { BUDGET_NAME, isAsked, spentIn } from "#server/runs/store/budget-waits.ts";

// A budget has the sum of the month (`spent`) and of the reservations for calls in flight (`held`). Before a call its estimate is
// reserved, if less than the limit is spent or held; afterwards the cost replaces it. Each is one statement that locks the budgets
// first, in order of their ids, so that concurrent calls see the reservations of each other. Decision 33.

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

/** Lifetime of a reservation in seconds: longer than any call may take. */
const MAX_CALL_SECONDS = 3 * 3600;

/** Does not wait for the disk: a reservation that is lost with the database's machine was never spent. */
const ASYNC_COMMIT = sql`async_commit AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
  )`;

/** Columns of a `BudgetState`. */
const STATE = raw(`b.id, b.scope, ${BUDGET_NAME}, b.action, b.monthly_limit::float8, b.spent::float8, b.held::float8`);
const SPENT = raw(spentIn("given.month"));
const IS_CHARGED = raw(isAsked("given.project_id", "given.agent_id", "given.llm_key_id"));

/** Reserves an estimate in all budgets of a call, or in none when one is used up and no allowance of the run covers it. */
const reserveStatement = (payer: Payer, { id, estimate, month }: { id: string; estimate: number; month: string }) => sql`
  WITH ${ASYNC_COMMIT}, given AS NOT MATERIALIZED (
    SELECT ${payer.project_id}::uuid AS project_id,
      ${payer.agent_id}::uuid AS agent_id,
      ${payer.llm_key_id}::uuid AS llm_key_id,
      ${payer.execution_id ?? null}::uuid AS execution_id,
      ${estimate}::numeric AS estimate,
      ${month}::date AS month
  ), budget AS MATERIALIZED (
    SELECT b.id, b.scope, b.agent_id, b.llm_key_id, b.action, b.monthly_limit, b.held, ${SPENT} AS spent
    FROM async_commit, given, budgets b
    WHERE ${IS_CHARGED}
    ORDER BY b.id
    FOR UPDATE OF b
  ), allowance AS MATERIALIZED (
    SELECT a.execution_id
    FROM given, budget_allowances a
    WHERE a.execution_id = given.execution_id
      AND a.spent + a.held < a.amount
      AND EXISTS (SELECT FROM budget)
    FOR UPDATE OF a
  ), verdict AS MATERIALIZED (
    SELECT bool_and(spent + held < monthly_limit) AS is_free,
      EXISTS (SELECT FROM allowance) AND bool_and(action = 'pause' OR spent + held < monthly_limit) AS is_allowed
    FROM budget
  ), reserved AS (
    UPDATE budgets b
    SET held = b.held + given.estimate,
      spent = budget.spent,
      month = greatest(b.month, given.month)
    FROM given, budget, verdict
    WHERE b.id = budget.id
      AND (is_free OR is_allowed)
    RETURNING b.id
  ), charged AS (
    UPDATE budget_allowances a
    SET held = a.held + given.estimate
    FROM given, verdict
    WHERE a.execution_id = given.execution_id
      AND NOT is_free
      AND is_allowed
    RETURNING a.execution_id
  ), stored AS (
    INSERT INTO budget_holds (id, budget_ids, execution_id, amount, expires_at)
    SELECT ${id}::uuid, array_agg(reserved.id), (SELECT execution_id FROM charged), ${estimate}::numeric,
      now() + ${MAX_CALL_SECONDS}::int * interval '1 second'
    FROM reserved
    HAVING count(*) > 0
  )
  SELECT ${STATE}, (SELECT is_free OR is_allowed FROM verdict) AS may_begin
  FROM budget b`;

/** Replaces a reservation by what the call cost, once. */
const settleStatement = (id: string, { cost, month }: { cost: number; month: string }) => sql`
  WITH ${ASYNC_COMMIT}, given AS NOT MATERIALIZED (
    SELECT ${cost}::numeric AS cost,
      ${month}::date AS month
  ), removed AS (
    DELETE FROM budget_holds
    USING async_commit
    WHERE id = ${id}::uuid
    RETURNING budget_ids, execution_id, amount
  ), budget AS MATERIALIZED (
    SELECT b.id, ${SPENT} AS spent
    FROM given, budgets b
    WHERE b.id IN (SELECT unnest(budget_ids) FROM removed)
    ORDER BY b.id
    FOR UPDATE OF b
  ), settled AS (
    UPDATE budgets b
    SET held = greatest(0, b.held - removed.amount),
      spent = budget.spent + given.cost,
      month = greatest(b.month, given.month)
    FROM given, budget, removed
    WHERE b.id = budget.id
    RETURNING b.id, b.project_id, b.scope, b.agent_id, b.llm_key_id, b.action, b.monthly_limit, b.spent, b.held
  ), charged AS (
    UPDATE budget_allowances a
    SET held = greatest(0, a.held - removed.amount),
      spent = a.spent + given.cost
    FROM given, removed
    WHERE a.execution_id = removed.execution_id
  )
  SELECT b.project_id, ${STATE}
  FROM settled b`;

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
  const id = uuid();
  const statement = reserveStatement(payer, { id, estimate, month: monthOf(now) });

  const { rows } = await pool().query<BudgetState & { may_begin: boolean }>(named("budget-hold", statement));
  if (rows.length === 0) return undefined;
  if (!rows[0]?.may_begin) return rows.filter(({ spent, held, monthly_limit }) => spent + held >= monthly_limit);
  return { settle: (cost) => settle(id, cost) };
}

async function settle(id: string, cost: number, now = new Date()): Promise<void> {
  try {
    const statement = named("budget-settle", settleStatement(id, { cost, month: monthOf(now) }));
    const { rows } = await pool().query<BudgetState & { project_id: string }>(statement);
    for (const row of rows) await tellSpent(row, now);
  } catch (error) {
    log.warn({ err: error }, "what a call cost could not be counted in its budgets; its estimate will count");
  }
}

const BATCH = 200;

/** Counts calls whose end nobody has told, since their process died, as they were estimated. */
export async function settleForgotten(now = new Date()): Promise<void> {
  const { rows } = await pool().query<{ id: string; amount: number }>(sql`
    SELECT id, amount::float8
    FROM budget_holds
    WHERE expires_at < ${now}
    ORDER BY expires_at
    LIMIT ${BATCH}`);
  for (const { id, amount } of rows) await settle(id, amount, now);
}

import type pg from "pg";
import { v7 as uuid } from "uuid";
import { type BudgetState, monthOf } from "#server/features/budgets/over-budget.ts";
import type { BudgetInput, BudgetList, BudgetsInput, Spent, SpentInput } from "#server/features/budgets/schema.ts";
import { forgetSpending } from "#server/features/budgets/spending.ts";
import { budgetDto, releaseWaits } from "#server/features/budgets/waits.ts";
import { spentBy, spentSince } from "#server/features/usage/service.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { BUDGET_NAME, spentIn } from "#server/runs/store/budget-waits.ts";

type Row = BudgetState & { agent_id: string | null; llm_key_id: string | null };

const READ = `
  SELECT b.id, b.scope, b.agent_id, b.llm_key_id, ${BUDGET_NAME}, b.action, b.monthly_limit::float8, b.held::float8, ${spentIn("$2")}::float8 AS spent
  FROM budgets b WHERE b.project_id = $1 ORDER BY b.scope, name, b.id`;

const read = async (on: Pick<pg.Pool, "query">, project_id: string, now: Date): Promise<Row[]> =>
  (await on.query<Row>(READ, [project_id, monthOf(now)])).rows;

/** The budgets of the project with what was spent this month. */
export async function getBudgets({ project }: ProjectPrincipal, now = new Date()): Promise<BudgetList> {
  const rows = await read(pool(), project.id, now);
  return { items: rows.map((row) => budgetDto(row, project.name, now)) };
}

/** Names what a budget is for; of each there is one. */
const keyOf = (scope: string, id: string | null | undefined): string => `${scope} ${id ?? ""}`;
const keyOfRow = ({ scope, agent_id, llm_key_id }: Row): string => keyOf(scope, agent_id ?? llm_key_id);

/** Columns of what a budget is for. */
const subjectOf = ({ scope, id }: BudgetInput): { agent_id: string | null; llm_key_id: string | null } => ({
  agent_id: scope === "agent" ? (id ?? null) : null,
  llm_key_id: scope === "llm_key" ? (id ?? null) : null,
});

const EXISTING = `
  SELECT id FROM agents WHERE project_id = $1 AND id = ANY($2::uuid[]) UNION ALL SELECT id FROM llm_keys WHERE project_id = $1 AND id = ANY($3::uuid[])`;

/** @throws AppError VALIDATION_ERROR for what the project does not have, and for two of one thing */
async function assertSound(on: Pick<pg.Pool, "query">, project_id: string, items: readonly BudgetInput[]): Promise<void> {
  const ids = (scope: BudgetInput["scope"]) => items.flatMap((item) => (item.scope === scope && isUuid(item.id ?? "") ? [item.id] : []));
  const { rows } = await on.query<{ id: string }>(EXISTING, [project_id, ids("agent"), ids("llm_key")]);
  const known = new Set(rows.map(({ id }) => id));
  const seen = new Set<string>();
  const errors = items.flatMap(({ scope, id }, index) => {
    const key = keyOf(scope, id?.toLowerCase());
    const isSecond = seen.has(key);
    seen.add(key);
    const fault =
      scope === "project"
        ? id !== undefined && "The budget of the project has no id."
        : id === undefined
          ? `Say with id which ${scope === "agent" ? "agent" : "LLM key"} it is for.`
          : !known.has(id.toLowerCase()) && `There is no such ${scope === "agent" ? "agent" : "LLM key"} in this project.`;
    const message = fault || (isSecond && "There is one budget for each. Take one of the two out.");
    return message ? [{ path: `items.${index}.id`, message }] : [];
  });
  if (errors[0]) throw new AppError("VALIDATION_ERROR", `${errors[0].path}: ${errors[0].message}`, { errors });
}

const SAVE = `
  INSERT INTO budgets (id, project_id, scope, agent_id, llm_key_id, monthly_limit, action, month, spent)
  VALUES ($1, $2, $3::"BudgetScope", $4, $5, $6::numeric, $7::"BudgetAction", $8::date, $9::numeric)`;
const CHANGE = `UPDATE budgets SET monthly_limit = $2::numeric, action = $3::"BudgetAction" WHERE id = $1`;

/**
 * Puts these budgets in the place of those of the project. A new one begins with what its month has cost so far; runs that wait go on
 * where there is room now.
 * @throws AppError VALIDATION_ERROR for what the project does not have, and for two of one thing
 */
export async function setBudgets(principal: ProjectPrincipal, { items }: BudgetsInput, now = new Date()): Promise<BudgetList> {
  const { project } = principal;
  await inTransaction(async (client) => {
    // One after the other: each sees what the one before it has saved.
    await client.query("SELECT FROM projects WHERE id = $1 FOR UPDATE", [project.id]);
    // In the order in which calls lock them: else a call and this could wait for each other.
    await client.query("SELECT FROM budgets WHERE project_id = $1 ORDER BY id FOR UPDATE", [project.id]);
    await assertSound(client, project.id, items);
    const before = new Map((await read(client, project.id, now)).map((row) => [keyOfRow(row), row]));
    const wanted = new Map(items.map((item) => [keyOf(item.scope, item.id?.toLowerCase()), item]));
    const gone = [...before].flatMap(([key, { id }]) => (wanted.has(key) ? [] : [id]));
    await client.query("DELETE FROM budgets WHERE id = ANY($1::uuid[])", [gone]);
    for (const [key, item] of wanted) {
      const { scope, monthly_limit, action } = item;
      const known = before.get(key);
      if (known) await client.query(CHANGE, [known.id, monthly_limit, action]);
      else {
        const { agent_id, llm_key_id } = subjectOf(item);
        const spent = await spentSince(client, { project_id: project.id, agent_id, llm_key_id }, monthOf(now));
        await client.query(SAVE, [uuid(), project.id, scope, agent_id, llm_key_id, monthly_limit, action, monthOf(now), spent]);
      }
    }
    const told = ({ scope, monthly_limit, action }: Pick<Row, "scope" | "monthly_limit" | "action">, id: string | null | undefined) => ({
      ...{ scope, monthly_limit, action },
      ...(id && { id }),
    });
    const detail = {
      before: [...before.values()].map((row) => told(row, row.agent_id ?? row.llm_key_id)),
      after: items.map((item) => told(item, item.id)),
    };
    const resource = { resource_type: "project", resource_id: project.id, resource_name: project.name } as const;
    await recordAudit(client, principal, { action: "budget.update", ...resource, detail });
  });
  forgetSpending(project.id);
  await releaseWaits(project.id, now);
  return getBudgets(principal, now);
}

/** What agents or LLM keys of the project have cost this month, and the budgets of those that have one. */
export async function getSpent({ project }: ProjectPrincipal, { scope, ids }: SpentInput, now = new Date()): Promise<Spent> {
  const [column, table] = scope === "agent" ? (["agent_id", "agents"] as const) : (["llm_key_id", "llm_keys"] as const);
  const { rows } = await pool().query<Spent["items"][number]>(
    `SELECT x.id, b.monthly_limit::float8, (CASE WHEN b.id IS NULL THEN coalesce(u.spent, 0) ELSE ${spentIn("$3")} END)::float8 AS spent
     FROM ${table} x LEFT JOIN budgets b ON b.${column} = x.id
       LEFT JOIN (${spentBy(column)}) AS u ON u.id = x.id
     WHERE x.project_id = $1 AND x.id = ANY($2::uuid[])`,
    [project.id, ids.filter(isUuid), monthOf(now)],
  );
  return { items: rows };
}

import type pg from "pg";
import { NO_ONE } from "#server/features/usage/record.ts";
import {
  MOST_DAYS,
  USUAL_DAYS,
  type Usage,
  type UsageAmount,
  type UsageGroup,
  type UsageInput,
  type UsageItem,
} from "#server/features/usage/schema.ts";
import type { ProviderId } from "#server/llm/kinds.ts";
import { priceList } from "#server/llm/prices.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";

const DAY_MS = 86_400_000;
const MOST_ITEMS = 1000;

/** What the items are grouped by, and where their names are. */
const GROUPS: Record<UsageGroup, { key: string; name?: string }> = {
  day: { key: "to_char(day, 'YYYY-MM-DD')" },
  agent: {
    key: `nullif(agent_id::text, '${NO_ONE}')`,
    name: "SELECT name FROM agents WHERE project_id = $1::uuid AND id = key::uuid",
  },
  workflow: {
    key: `nullif(workflow_id::text, '${NO_ONE}')`,
    name: "SELECT name FROM workflows WHERE project_id = $1::uuid AND id = key::uuid",
  },
  model: { key: "model" },
  source: { key: "source" },
};

// Sums of days, and beside them the calls that no day has taken in yet, as they are at one moment.
const statement = (group: UsageGroup) => {
  const { key, name = "NULL::text" } = GROUPS[group];
  const provider = group === "model" ? "provider" : "NULL::text";
  return `
    WITH used AS (
      SELECT ${key} AS key, ${provider} AS provider, calls, calls_without_price, input_tokens, output_tokens, cost
      FROM usage_days WHERE project_id = $1::uuid AND day BETWEEN $2::date AND $3::date
      UNION ALL
      SELECT ${key}, ${provider}, 1, (cost IS NULL)::int, input_tokens, output_tokens, coalesce(cost, 0)
      FROM usage_calls WHERE project_id = $1::uuid AND day BETWEEN $2::date AND $3::date
    ), sums AS (
      SELECT key, provider, grouping(key) = 1 AS is_total, coalesce(sum(calls), 0)::float8 AS calls,
        coalesce(sum(calls_without_price), 0)::float8 AS calls_without_price, coalesce(sum(input_tokens), 0)::float8 AS input_tokens,
        coalesce(sum(output_tokens), 0)::float8 AS output_tokens, coalesce(sum(cost), 0)::float8 AS cost
      FROM used GROUP BY GROUPING SETS ((key, provider), ())
    )
    SELECT sums.*, (${name}) AS name FROM sums
    ORDER BY is_total DESC, ${group === "day" ? "key" : "cost DESC, input_tokens + output_tokens DESC, key"} LIMIT ${MOST_ITEMS + 1}`;
};

type Sums = Omit<UsageAmount, "cost" | "cost_is_partial"> & { cost: number };
interface Row extends Sums {
  key: string | null;
  provider: ProviderId | null;
  name: string | null;
  is_total: boolean;
}

const nothing: Sums = { calls: 0, calls_without_price: 0, input_tokens: 0, output_tokens: 0, cost: 0 };

/** A sum of which nothing is known is unknown, and never 0. */
function amountOf({ calls, calls_without_price, input_tokens, output_tokens, cost }: Sums): UsageAmount {
  const isPartial = calls_without_price > 0;
  const known = cost === 0 && isPartial ? null : cost;
  return { calls, calls_without_price, input_tokens, output_tokens, cost: known, cost_is_partial: isPartial };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** First and last day of the question, in milliseconds. */
function spanOf({ from, to }: UsageInput): [number, number] {
  const startOfDay = (time: string | number) => Date.parse(dayOf(new Date(time).getTime()));
  const last = startOfDay(to ?? Date.now());
  const first = from === undefined ? last - (USUAL_DAYS - 1) * DAY_MS : startOfDay(from);
  if (first > last) throw invalidField("from", "The first day comes after the last one.");
  if ((last - first) / DAY_MS >= MOST_DAYS) throw invalidField("from", `Ask for at most ${MOST_DAYS} days at a time.`);
  if (first < 0) throw invalidField("from", "Ask for days from 1970 on.");
  return [first, last];
}

/** Every day of the span, also those on which nothing was called. */
function filled(rows: Row[], first: number, last: number): UsageItem[] {
  const found = new Map(rows.map((row) => [row.key, row]));
  const items: UsageItem[] = [];
  for (let time = first; time <= last; time += DAY_MS) {
    const key = dayOf(time);
    items.push({ key, name: null, provider: null, ...amountOf(found.get(key) ?? nothing) });
  }
  return items;
}

/**
 * What the project's agents used, in runs and outside of them, and what was used for the vectors of its knowledge: tokens, and US dollars at the prices of the day of each call.
 * @throws AppError VALIDATION_ERROR for a span that is none, or too long
 */
export async function getUsage({ project }: ProjectPrincipal, input: UsageInput): Promise<Usage> {
  const { group_by } = input;
  const [first, last] = spanOf(input);
  const [from, to] = [dayOf(first), dayOf(last)];
  const { rows } = await pool().query<Row>({ name: `usage-by-${group_by}`, text: statement(group_by), values: [project.id, from, to] });
  const parts = rows.filter((row) => !row.is_total);
  const items =
    group_by === "day"
      ? filled(parts, first, last)
      : parts.map(({ key, name, provider, ...sums }) => ({ key, name, provider, ...amountOf(sums) }));
  const total = amountOf(rows.find((row) => row.is_total) ?? nothing);
  return { from, to, group_by, currency: priceList.currency, prices_as_of: priceList.as_of, total, items };
}

const SINCE = `
  SELECT coalesce(sum(cost), 0)::float8 AS spent FROM (
    SELECT cost, agent_id, llm_key_id FROM usage_days WHERE project_id = $1 AND day >= $2::date
    UNION ALL SELECT cost, agent_id, llm_key_id FROM usage_calls WHERE project_id = $1 AND day >= $2::date
  ) AS used WHERE ($3::uuid IS NULL OR agent_id = $3) AND ($4::uuid IS NULL OR llm_key_id = $4)`;

/** What calls from a day on have cost, US dollars, as far as their price is known: all of a project, or those of one agent or LLM key. */
export async function spentSince(
  on: Pick<pg.Pool, "query">,
  { project_id, agent_id, llm_key_id }: { project_id: string; agent_id: string | null; llm_key_id: string | null },
  day: string,
): Promise<number> {
  return (await on.query<{ spent: number }>(SINCE, [project_id, day, agent_id, llm_key_id])).rows[0]?.spent ?? 0;
}

/** SQL: what calls of a project ($1) have cost since a day ($3), by their agent or LLM key. */
export const spentBy = (column: "agent_id" | "llm_key_id"): string => `
  SELECT ${column} AS id, sum(cost) AS spent FROM (
    SELECT cost, ${column} FROM usage_days WHERE project_id = $1 AND day >= $3::date
    UNION ALL SELECT cost, ${column} FROM usage_calls WHERE project_id = $1 AND day >= $3::date
  ) AS used GROUP BY 1`;

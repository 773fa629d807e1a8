import { db } from "#server/platform/db/client.ts";

/** What these runs have used so far: US dollars where prices are known, and the tokens of runs where some price is not. */
export async function usedByRuns(execution_ids: readonly string[]): Promise<{ cost: number; unpriced: number }> {
  const [used] = await db().$queryRaw<{ cost: number; unpriced: number }[]>`
    SELECT coalesce(sum(cost), 0)::float8 AS cost,
      coalesce(sum(input_tokens + output_tokens) FILTER (WHERE cost IS NULL OR cost_is_partial), 0)::float8 AS unpriced
    FROM executions WHERE id = ANY(${execution_ids}::uuid[])`;
  return used ?? { cost: 0, unpriced: 0 };
}

import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { pool } from "#server/db/client.ts";
import type { HourlyUse, ProjectRef } from "#server/schemas/project.ts";
import { hourlyLimit, hourlyValues } from "#server/services/projects/hourly-limit.ts";
import { memberOf } from "#server/services/projects/member-of.ts";

// No more are counted than the limit says: beyond it, how many there are changes nothing.
const USED = {
  name: "hourly-use",
  text: `
    SELECT h.hourly AS limit, count(e.created_at)::int AS used, min(e.created_at) + interval '1 hour' AS next_at
    FROM (SELECT p.id, ${hourlyLimit("$2::int", "$3::int")} AS hourly FROM projects p WHERE p.id = $1::uuid) AS h
    LEFT JOIN LATERAL (
      SELECT created_at FROM executions
      WHERE project_id = h.id AND created_at > now() - interval '1 hour' AND is_counted AND NOT (status = 'failed' AND started_at IS NULL)
      ORDER BY created_at DESC LIMIT h.hourly
    ) AS e ON true
    GROUP BY h.hourly`,
};

/**
 * How much of its hour a project has used.
 * @throws AppError NOT_FOUND for a project the user is not in
 */
export async function getHourlyUse(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<HourlyUse> {
  await memberOf(principal, project_id, "viewer");
  const [preset, most] = hourlyValues();
  const { rows } = await pool().query<{ limit: number; used: number; next_at: Date | null }>({
    ...USED,
    values: [project_id, preset, most],
  });
  const { limit = 0, used = 0, next_at = null } = rows[0] ?? {};
  return { limit: limit || null, used, next_at: next_at?.toISOString() ?? null, preset: preset || null, most: most || null };
}

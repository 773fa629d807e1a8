import type { z } from "zod";
import { memberOf } from "#server/features/projects/members.ts";
import type { HourlyUse, ProjectRef, ProjectStorage } from "#server/features/projects/schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { hourlyLimit, hourlyValues, measureStorage } from "#server/runs/store/limits.ts";

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

/** How old a measuring may be that is told, in milliseconds. */
const FRESH_MS = 60_000;

/**
 * What a project holds, and may hold.
 * @throws AppError NOT_FOUND for a project the user is not in
 */
export async function getStorage(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<ProjectStorage> {
  await memberOf(principal, project_id, "viewer");
  const where = { project_id };
  let row = await db().projectStorage.findUnique({ where });
  if (!row?.measured_at || Date.now() - row.measured_at.getTime() > FRESH_MS) {
    await measureStorage(project_id, () => false);
    row = await db().projectStorage.findUnique({ where });
  }
  const [runs, documents, workflows] = [row?.runs, row?.documents, row?.workflows].map(Number);
  const parts = { runs: runs || 0, documents: documents || 0, workflows: workflows || 0 };
  return { quota: settings().PROJECT_STORAGE_BYTES || null, used: parts.runs + parts.documents + parts.workflows, ...parts };
}

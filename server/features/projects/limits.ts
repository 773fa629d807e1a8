import type { z } from "zod";
import { memberOf } from "#server/features/projects/members.ts";
import type { HourlyUse, ProjectRef, ProjectStorage } from "#server/features/projects/schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { hourlyUse, hourlyValues, measureStorage } from "#server/runs/store/limits.ts";

/**
 * How much of its hour a project has used.
 * @throws AppError NOT_FOUND for a project the user is not in
 */
export async function getHourlyUse(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<HourlyUse> {
  await memberOf(principal, project_id, "viewer");
  const [preset, most] = hourlyValues();
  const { limit, used, next_at } = await hourlyUse(project_id);
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
  const [runs, documents, workflows, other] = [row?.runs, row?.documents, row?.workflows, row?.other].map(Number);
  const parts = { runs: runs || 0, documents: documents || 0, workflows: workflows || 0, other: other || 0 };
  return { quota: settings().PROJECT_STORAGE_BYTES || null, used: parts.runs + parts.documents + parts.workflows + parts.other, ...parts };
}

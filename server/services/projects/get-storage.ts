import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { ProjectRef, ProjectStorage } from "#server/schemas/project.ts";
import { measureStorage } from "#server/services/projects/measure-storage.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { settings } from "#server/settings.ts";

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

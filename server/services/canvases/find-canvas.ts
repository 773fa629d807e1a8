import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * The stored canvas.
 * @throws AppError NOT_FOUND, also for a canvas of another project
 */
export async function findCanvas(project_id: string, id: string) {
  const row = isUuid(id) ? await db().canvas.findFirst({ where: { id, project_id } }) : null;
  if (!row) throw notFound("canvas");
  return row;
}

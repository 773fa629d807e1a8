import { removeDeletedProjects } from "#server/features/projects/delete.ts";
import { db } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { countOlderExecutions } from "#server/runs/store/count-older-executions.ts";
import { deleteExecutions } from "#server/runs/store/delete-executions.ts";
import { measureStorage } from "#server/runs/store/limits.ts";

const DAY_MS = 86_400_000;
/** How long one turn may take, in milliseconds; well below what a host allows one request. */
const TURN_MS = 20_000;

/**
 * One turn of tidying: removes what is left of deleted projects, then in each project with a retention the executions that
 * ended longer ago than it keeps them, and counts what has come to lie in the past. Stops after 20 seconds.
 * @returns whether there is more to do
 */
export async function tidyExecutions({ now = Date.now(), turnMs = TURN_MS } = {}): Promise<boolean> {
  const until = performance.now() + turnMs;
  const goOn = () => performance.now() < until;
  let isDone = await removeDeletedProjects(goOn);
  const projects = await db().project.findMany({
    where: { retention_days: { not: null }, deleted_at: null },
    select: { id: true, retention_days: true },
    orderBy: { id: "asc" },
  });
  for (const { id, retention_days } of projects) {
    if (retention_days === null) continue;
    const result = await deleteExecutions(id, new Date(now - retention_days * DAY_MS), goOn);
    if (result.deleted)
      log.info({ project_id: id, deleted: result.deleted, retention_days }, "executions past their retention were deleted");
    isDone &&= result.isDone;
  }
  return !isDone;
}

/** Measures what every project holds, those first that were measured longest ago. Stops after 20 seconds. */
export async function measureProjects({ turnMs = TURN_MS } = {}): Promise<void> {
  const until = performance.now() + turnMs;
  const goOn = () => performance.now() < until;
  const projects = await db().project.findMany({
    where: { deleted_at: null },
    select: { id: true },
    orderBy: { storage: { measured_at: { sort: "asc", nulls: "first" } } },
  });
  for (const { id } of projects) if (goOn()) await measureStorage(id, goOn);
}

/** Counts every project's past executions ahead, so that the first list of a project that nobody looked at is as fast. */
export async function countAhead(): Promise<void> {
  const projects = await db().project.findMany({ where: { deleted_at: null }, select: { id: true } });
  for (const { id } of projects) await countOlderExecutions(id);
}

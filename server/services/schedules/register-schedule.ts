import type { PrismaClient } from "#prisma/generated/client.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { nextFire } from "#server/services/schedules/cron.ts";
import { scheduleOf } from "#server/services/schedules/schedule-of.ts";

/**
 * Keeps the row by which a workflow's schedule fires, or removes it when its trigger is of another kind.
 * @param within the transaction of the save
 */
export async function registerSchedule(
  workflow: { id: string; enabled: boolean },
  graph: Graph,
  within: Pick<PrismaClient, "schedule">,
): Promise<void> {
  const schedule = scheduleOf(graph);
  const where = { workflow_id: workflow.id };
  if (!schedule?.cron_expression) {
    await within.schedule.deleteMany({ where });
    return;
  }
  const { enabled, ...rest } = schedule;
  const active = enabled && workflow.enabled;
  const before = await within.schedule.findUnique({ where });
  // A save that leaves the times alone must not pass over a fire that is due this very moment.
  const isSame = before?.active && active && before.cron_expression === rest.cron_expression && before.timezone === rest.timezone;
  const next_fire_at = isSame ? before.next_fire_at : active ? nextFire(rest, new Date()) : null;
  const row = { ...rest, active, next_fire_at };
  await within.schedule.upsert({ where, create: { ...where, ...row }, update: row });
}

import type { PrismaClient } from "#prisma/generated/client.ts";
import { triggerOf } from "#server/features/workflows/checks.ts";
import type { PreviewScheduleInput, SchedulePreview, ScheduleView } from "#server/features/workflows/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { CronError, checkCron, nextFire, nextFires } from "#server/workflow/cron.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import type { Graph } from "#server/workflow/schema.ts";

const SHOWN = 5;

/** The next fires of a schedule that nobody has saved yet, or why it cannot be used. Reads nothing of the project. */
export function previewSchedule(_principal: ProjectPrincipal, schedule: PreviewScheduleInput): SchedulePreview {
  const now = new Date();
  const { timezone } = schedule;
  try {
    checkCron(schedule, now);
    return { timezone, next_fires: nextFires(schedule, now, SHOWN).map((time) => time.toISOString()), fault: null };
  } catch (error) {
    if (error instanceof CronError) return { timezone, next_fires: [], fault: { field: error.field, message: error.message } };
    throw error;
  }
}

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

/** The schedule in a graph's trigger, or null when that is of another kind. */
export function scheduleOf(graph: Graph): Omit<ScheduleView, "next_fires"> | null {
  const config = triggerNode.config.safeParse(triggerOf(graph)?.data);
  if (!config.success || config.data.kind !== "schedule") return null;
  const { active, cron_expression, timezone, default_input } = config.data;
  return { enabled: active, cron_expression: cron_expression.trim(), timezone, default_input };
}

/**
 * The read-only view of a saved workflow's schedule: `enabled` is the trigger's own toggle, and nothing is to come while
 * that or the workflow is off.
 */
export function scheduleView(graph: Graph, isWorkflowEnabled: boolean): ScheduleView | null {
  const schedule = scheduleOf(graph);
  if (!schedule) return null;
  const isOn = schedule.enabled && isWorkflowEnabled && schedule.cron_expression !== "";
  return { ...schedule, next_fires: isOn ? nextFires(schedule, new Date(), SHOWN).map((time) => time.toISOString()) : [] };
}

import { triggerNode } from "#server/engine/nodes/trigger-node.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { ScheduleView } from "#server/schemas/workflow.ts";
import { nextFires } from "#server/services/schedules/cron.ts";
import { triggerOf } from "#server/services/workflows/checked-graph.ts";

/** How many coming fires a workflow shows. */
const SHOWN = 5;

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

import type { PrismaClient } from "#prisma/generated/client.ts";
import { triggerKind, triggerOf } from "#server/features/workflows/checks.ts";
import type { PreviewScheduleInput, ScheduleChange, SchedulePreview, ScheduleView } from "#server/features/workflows/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField } from "#server/platform/errors.ts";
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

/** The graph with other values in its schedule trigger, or unchanged when that is of another kind. */
export function withSchedule(graph: Graph, { enabled: active, cron_expression, timezone, default_input }: ScheduleChange): Graph {
  if (triggerKind(graph) !== "schedule") return graph;
  const given = Object.entries({ active, cron_expression, timezone, default_input }).filter(([, value]) => value !== undefined);
  const values = Object.fromEntries(given);
  const nodes = graph.nodes.map((node) => (node.type === "triggerNode" ? { ...node, data: { ...node.data, ...values } } : node));
  return { ...graph, nodes };
}

/**
 * Rejects a schedule that cannot be kept.
 * @param at path of the schedule in the request, with a dot at its end
 * @throws AppError VALIDATION_ERROR that names the field of the request, where a save would name the one of the graph
 */
export function assertSchedule(graph: Graph, at = ""): void {
  const schedule = scheduleOf(graph);
  if (!schedule) return;
  if (schedule.cron_expression === "") {
    if (schedule.enabled) throw invalidField(`${at}cron_expression`, "Say when it runs: send a cron_expression, for example 0 9 * * 1-5.");
    return;
  }
  try {
    checkCron(schedule, new Date());
  } catch (error) {
    if (error instanceof CronError) throw invalidField(`${at}${error.field}`, error.message);
    throw error;
  }
}

/** True when every value of a request's schedule is what the trigger says; null stands for a trigger of another kind. */
function saysTheSame(schedule: ScheduleChange | null, graph: Graph): boolean {
  const view = scheduleOf(graph);
  if (!schedule || !view) return schedule === view;
  const { enabled, cron_expression, timezone, default_input } = schedule;
  const isSame = (given: unknown, value: unknown) => given === undefined || given === value;
  return (
    isSame(enabled, view.enabled) &&
    isSame(cron_expression?.trim(), view.cron_expression) &&
    isSame(timezone, view.timezone) &&
    isSame(default_input, view.default_input)
  );
}

/**
 * Applies the schedule of a request that saves a workflow.
 * @param stored the graph that the client read; left out for a new workflow
 * @returns the change to make to the trigger; undefined when there is none
 * @throws AppError VALIDATION_ERROR for a schedule that contradicts the nodes of the request, or a trigger of another kind
 */
export function scheduleChange(
  { schedule, nodes }: { schedule?: ScheduleChange | null | undefined; nodes?: unknown },
  graph: Graph,
  stored?: Graph,
): ScheduleChange | undefined {
  if (schedule === undefined || saysTheSame(schedule, graph) || (stored && saysTheSame(schedule, stored))) return undefined;
  if (nodes !== undefined)
    throw invalidField(
      "schedule",
      "contradicts the trigger in nodes",
      "The schedule contradicts the trigger node of the same request. Change the trigger node, or leave out schedule or nodes.",
    );
  if (triggerKind(graph) !== "schedule")
    throw invalidField(
      "schedule",
      "the trigger is of another kind",
      "This workflow's trigger is not a schedule. Send nodes with a trigger of kind schedule.",
    );
  if (schedule === null)
    throw invalidField("schedule", "The trigger is a schedule. Send enabled: false to switch it off, or nodes with another trigger.");
  return schedule;
}

import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { PreviewScheduleInput, SchedulePreview } from "#server/schemas/schedule.ts";
import { CronError, checkCron, nextFires } from "#server/services/schedules/cron.ts";

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

import { fireDueSchedules } from "#server/features/schedules/fire-due-schedules.ts";
import { inngest } from "#server/jobs/inngest/client.ts";

/** Looks each minute for schedules whose time has come. What it misses while nothing runs, the start of a worker makes up for. */
export const fireSchedules = () =>
  inngest().createFunction({ id: "fire-schedules", name: "Fire schedules", retries: 0, triggers: [{ cron: "* * * * *" }] }, ({ step }) =>
    step.run("fire", () => fireDueSchedules()),
  );

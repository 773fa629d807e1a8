import { countAhead, measureProjects, tidyExecutions as tidy } from "#server/features/executions/tidy-executions.ts";
import { tidyNotifications } from "#server/features/notifications/service.ts";
import { inngest } from "#server/jobs/inngest/client.ts";

/** How many turns of 20 seconds one hour gets; what is left waits for the next. */
const TURNS = 30;

/** Keeps to what each project's retention says, finishes deleting projects, and removes what nobody needs any more. */
export const tidyExecutions = () =>
  inngest().createFunction(
    { id: "tidy-executions", name: "Tidy executions", retries: 0, concurrency: 1, triggers: [{ cron: "41 * * * *" }] },
    async ({ step }) => {
      for (let turn = 0; turn < TURNS; turn++) if (!(await step.run(`tidy ${turn}`, () => tidy()))) break;
      await step.run("measure", () => measureProjects());
      await step.run("count ahead", () => countAhead());
      await step.run("notifications", () => tidyNotifications());
    },
  );

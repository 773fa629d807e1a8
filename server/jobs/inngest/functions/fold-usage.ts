import { foldUsage as fold } from "#server/features/usage/record.ts";
import { inngest } from "#server/jobs/inngest/client.ts";

/** Keeps single calls few, so that usage is read from sums. */
export const foldUsage = () =>
  inngest().createFunction(
    { id: "fold-usage", name: "Add calls to the usage of their days", retries: 0, concurrency: 1, triggers: [{ cron: "*/5 * * * *" }] },
    async ({ step }) => {
      await step.run("fold", () => fold());
    },
  );

import { tidySessions } from "#server/features/identity/sign-in.ts";
import { tidyDeliveries as tidy } from "#server/features/webhooks/deliveries.ts";
import { inngest } from "#server/jobs/inngest/client.ts";
import { tidyKeys } from "#server/platform/idempotency.ts";

/** Keeps the log of webhook deliveries short, and forgets Idempotency-Keys whose day is over. */
export const tidyDeliveries = () =>
  inngest().createFunction(
    { id: "tidy-deliveries", name: "Tidy webhook deliveries", retries: 0, triggers: [{ cron: "17 * * * *" }] },
    async ({ step }) => {
      await step.run("tidy", () => tidy());
      await step.run("tidy idempotency keys", () => tidyKeys());
      await step.run("tidy sessions", () => tidySessions());
    },
  );

import { inngest } from "#server/inngest/client.ts";
import { tidyKeys } from "#server/services/idempotency/tidy-keys.ts";
import { tidySessions } from "#server/services/identity/end-session.ts";
import { tidyDeliveries as tidy } from "#server/services/webhooks/tidy-deliveries.ts";

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

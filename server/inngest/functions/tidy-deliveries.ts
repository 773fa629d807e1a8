import { inngest } from "#server/inngest/client.ts";
import { tidyDeliveries as tidy } from "#server/services/webhooks/tidy-deliveries.ts";

/** Keeps the log of webhook deliveries short. */
export const tidyDeliveries = () =>
  inngest().createFunction(
    { id: "tidy-deliveries", name: "Tidy webhook deliveries", retries: 0, triggers: [{ cron: "17 * * * *" }] },
    ({ step }) => step.run("tidy", () => tidy()),
  );

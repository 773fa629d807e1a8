import { fireSchedules } from "#server/inngest/functions/fire-schedules.ts";
import { notifyReview } from "#server/inngest/functions/notify-review.ts";
import { runWorkflow } from "#server/inngest/functions/run-workflow.ts";
import { tidyDeliveries } from "#server/inngest/functions/tidy-deliveries.ts";

/** Every function, made when settings are known. */
export const inngestFunctions = () => [runWorkflow(), notifyReview(), fireSchedules(), tidyDeliveries()];

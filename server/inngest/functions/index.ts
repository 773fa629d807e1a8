import { fireSchedules } from "#server/inngest/functions/fire-schedules.ts";
import { foldUsage } from "#server/inngest/functions/fold-usage.ts";
import { indexDocument } from "#server/inngest/functions/index-document.ts";
import { notifyReview } from "#server/inngest/functions/notify-review.ts";
import { resumeIndexing } from "#server/inngest/functions/resume-indexing.ts";
import { runWorkflow } from "#server/inngest/functions/run-workflow.ts";
import { tidyDeliveries } from "#server/inngest/functions/tidy-deliveries.ts";
import { tidyExecutions } from "#server/inngest/functions/tidy-executions.ts";

/** Every function, made when settings are known. */
export const inngestFunctions = () => [
  runWorkflow(),
  notifyReview(),
  fireSchedules(),
  tidyDeliveries(),
  tidyExecutions(),
  foldUsage(),
  indexDocument(),
  resumeIndexing(),
];

import { fireSchedules } from "#server/jobs/inngest/functions/fire-schedules.ts";
import { foldUsage } from "#server/jobs/inngest/functions/fold-usage.ts";
import { indexDocument } from "#server/jobs/inngest/functions/index-document.ts";
import { notifyReview } from "#server/jobs/inngest/functions/notify-review.ts";
import { resumeIndexing } from "#server/jobs/inngest/functions/resume-indexing.ts";
import { runWorkflow } from "#server/jobs/inngest/functions/run-workflow.ts";
import { tidyDeliveries } from "#server/jobs/inngest/functions/tidy-deliveries.ts";
import { tidyExecutions } from "#server/jobs/inngest/functions/tidy-executions.ts";

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

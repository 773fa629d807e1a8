import { router, viewerProcedure } from "#server/api/trpc.ts";
import { CheckConditionInput, ConditionCheck, ConditionTrial, TryConditionInput } from "#server/schemas/condition.ts";
import { PreviewScheduleInput, SchedulePreview } from "#server/schemas/schedule.ts";
import { previewSchedule } from "#server/services/schedules/preview-schedule.ts";
import { checkCondition } from "#server/services/workflows/check-condition.ts";
import { tryCondition } from "#server/services/workflows/try-condition.ts";

/** What the web UI's forms ask while one types; no part of the REST API. */
export const checksRouter = router({
  condition: viewerProcedure
    .input(CheckConditionInput)
    .output(ConditionCheck)
    .query(({ ctx, input, signal }) => checkCondition(ctx.principal, input, signal)),
  conditionTrial: viewerProcedure
    .input(TryConditionInput)
    .output(ConditionTrial)
    .query(({ ctx, input, signal }) => tryCondition(ctx.principal, input, signal)),
  schedule: viewerProcedure
    .input(PreviewScheduleInput)
    .output(SchedulePreview)
    .query(({ ctx, input }) => previewSchedule(ctx.principal, input)),
});

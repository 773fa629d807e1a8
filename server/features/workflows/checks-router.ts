import { previewSchedule } from "#server/features/workflows/schedule.ts";
import { PreviewScheduleInput, SchedulePreview } from "#server/features/workflows/schema.ts";
import { checkCode, checkCondition, tryCondition } from "#server/features/workflows/try-condition.ts";
import { router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { CheckCodeInput, CheckConditionInput, ConditionTrial, PythonCheck, TryConditionInput } from "#server/workflow/condition-schema.ts";

/** What the web UI's forms ask while one types; no part of the REST API. */
export const checksRouter = router({
  condition: viewerProcedure
    .input(CheckConditionInput)
    .output(PythonCheck)
    .query(({ ctx, input, signal }) => checkCondition(ctx.principal, input, signal)),
  code: viewerProcedure
    .input(CheckCodeInput)
    .output(PythonCheck)
    .query(({ ctx, input, signal }) => checkCode(ctx.principal, input, signal)),
  conditionTrial: viewerProcedure
    .input(TryConditionInput)
    .output(ConditionTrial)
    .query(({ ctx, input, signal }) => tryCondition(ctx.principal, input, signal)),
  schedule: viewerProcedure
    .input(PreviewScheduleInput)
    .output(SchedulePreview)
    .query(({ ctx, input }) => previewSchedule(ctx.principal, input)),
});

import { z } from "zod";
import { ExecutionStatus } from "#server/runs/status-schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";
import { Id } from "#server/shared/primitives-schema.ts";

/** Response of an HTTP trigger: with 202 the id alone, with 200 the output of a completed run. */
export const HttpTriggerResult = z
  .object({
    execution_id: Id,
    status: ExecutionStatus,
    output: z.string().nullable().optional().meta({ description: "With 200: the output of the run" }),
  })
  .meta({ id: "HttpTriggerResult" });
export type HttpTriggerResult = z.infer<typeof HttpTriggerResult>;

/** Response of an HTTP trigger with response mode `sync` whose run did not complete. */
export const HttpTriggerError = ErrorBody.extend({
  execution_id: Id,
  run_status: ExecutionStatus.meta({ description: "failed, cancelled or rejected", example: "failed" }),
}).meta({ id: "HttpTriggerError", description: "The run of a synchronous call did not complete" });
export type HttpTriggerError = z.infer<typeof HttpTriggerError>;

import { z } from "zod";
import { ExecutionStatus } from "#server/runs/status-schema.ts";
import { Id } from "#server/shared/primitives-schema.ts";

/** What a call of an HTTP trigger gets: with 202 the id alone, with 200 how the run ended. */
export const HttpTriggerResult = z
  .object({
    execution_id: Id,
    status: ExecutionStatus,
    output: z.string().nullable().optional().meta({ description: "With 200: the output of the run" }),
    error: z.string().optional().meta({ description: "Why a run failed" }),
  })
  .meta({ id: "HttpTriggerResult" });
export type HttpTriggerResult = z.infer<typeof HttpTriggerResult>;

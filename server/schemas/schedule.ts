import { z } from "zod";
import { Timestamp } from "#server/schemas/primitives.ts";

/** A schedule as it is typed in the editor. */
export const PreviewScheduleInput = z.strictObject({
  cron_expression: z.string().max(120).meta({ description: "Cron with five fields" }),
  timezone: z.string().max(60).meta({ description: "IANA name" }),
});
export type PreviewScheduleInput = z.infer<typeof PreviewScheduleInput>;

export const SchedulePreview = z.object({
  timezone: z.string().meta({ description: "The zone that was asked about" }),
  next_fires: z.array(Timestamp).meta({ description: "The next five, none with a fault" }),
  fault: z
    .object({ field: z.enum(["cron_expression", "timezone"]), message: z.string() })
    .nullable()
    .meta({ description: "Why it cannot be used" }),
});
export type SchedulePreview = z.infer<typeof SchedulePreview>;

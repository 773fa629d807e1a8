import { z } from "zod";
import { Id, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

/** What somebody is told of. */
export const NotificationKind = z.enum(["review", "run_failed", "schedule_missed", "workflow_disabled", "budget"]);
export type NotificationKind = z.infer<typeof NotificationKind>;

export const Notification = z.object({
  id: Id,
  kind: NotificationKind,
  title: z.string(),
  link: z.string().meta({ description: "Path in the web app" }),
  read_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Notification = z.infer<typeof Notification>;

export const NotificationPage = pageOf(Notification).extend({
  unread: z.number().int().meta({ description: "How many are unread in all" }),
  failures: z.number().int().meta({ description: "How many of the unread ones are of failed runs" }),
});
export type NotificationPage = z.infer<typeof NotificationPage>;

export const MarkReadInput = z.strictObject({
  ids: z.array(Id).max(200).optional().meta({ description: "Left out, all of them" }),
  kind: NotificationKind.optional().meta({ description: "Only those of this kind" }),
});
export type MarkReadInput = z.infer<typeof MarkReadInput>;

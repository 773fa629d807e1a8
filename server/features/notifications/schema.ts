import { z } from "zod";
import { Id, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

export const Notification = z.object({
  id: Id,
  kind: z.enum(["review"]),
  title: z.string(),
  link: z.string().meta({ description: "Path in the web app" }),
  read_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Notification = z.infer<typeof Notification>;

export const NotificationPage = pageOf(Notification).extend({
  unread: z.number().int().meta({ description: "How many are unread in all" }),
});
export type NotificationPage = z.infer<typeof NotificationPage>;

export const MarkReadInput = z.strictObject({ ids: z.array(Id).max(200).optional().meta({ description: "Left out, all of them" }) });

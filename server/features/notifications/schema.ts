import { z } from "zod";
import { Id, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

/** What somebody is told of. */
export const NotificationKind = z.enum(["review", "run_failed", "schedule_missed", "workflow_disabled", "budget", "emails_held"]);
export type NotificationKind = z.infer<typeof NotificationKind>;

const Choice = z.object({
  in_app: z.boolean().meta({ description: "Whether it stands under the bell", example: true }),
  mail: z.boolean().meta({ description: "Whether it also goes by mail, where a mail server is set", example: false }),
});
const kinds = NotificationKind.options;
const shape = Object.fromEntries(kinds.map((kind) => [kind, Choice])) as Record<NotificationKind, typeof Choice>;
/** How somebody is told of each kind of thing. */
export const NotificationChoices = z.object(shape).meta({ id: "NotificationChoices" });
export type NotificationChoices = z.infer<typeof NotificationChoices>;
/** Those that are to change. */
export const NotificationChoicesInput = z.strictObject(shape).partial();

const AS_USUAL = { in_app: true, mail: false };
const Stored = z.strictObject(shape).partial().catch({});

/** What is stored of somebody's choices, with what is usual for those that were not made. */
export function choicesOf(stored: unknown): NotificationChoices {
  const made = Stored.parse(stored);
  return Object.fromEntries(kinds.map((kind) => [kind, made[kind] ?? AS_USUAL])) as NotificationChoices;
}

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

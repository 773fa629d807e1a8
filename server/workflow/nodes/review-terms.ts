import { z } from "zod";
import { isRejecting } from "#server/workflow/nodes/review-choices.ts";

// What a review asks of whom: the terms that its node sets, and that its wait keeps. Loads in a browser.

/** Somebody who is asked: one member, by id or address, or everybody with a role. */
export const Assignee = z.strictObject({
  kind: z.enum(["user", "role"]).meta({ description: "user: one member; role: everybody with exactly this role" }),
  value: z
    .string()
    .trim()
    .min(1)
    .max(254)
    .meta({ description: "Of a user the id or the e-mail address, else approver, editor or admin", example: "approver" }),
});
export type Assignee = z.infer<typeof Assignee>;

/** Roles that decide reviews. */
export const DECIDING_ROLES = ["approver", "editor", "admin"] as const;

/** An answer that people may give: a way out of the node. */
export const ReviewChoice = z.strictObject({
  // The name of its way out, which a connection keeps.
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/, "must be 1 to 40 letters, digits, _ or -")
    .meta({ description: "The way out of the node, and what expressions read", example: "approved" }),
  label: z.string().trim().max(60).default("").meta({ title: "Label", description: "What stands on the button", example: "Approve" }),
  style: z.enum(["primary", "danger", "neutral"]).default("neutral").meta({
    title: "Style",
    description: "danger counts as a rejection: one is enough, and a review that times out counts as one",
  }),
});
export type ReviewChoice = z.infer<typeof ReviewChoice>;

export const DEFAULT_CHOICES: readonly ReviewChoice[] = [
  { id: "approved", label: "Approve", style: "primary" },
  { id: "rejected", label: "Reject", style: "danger" },
];

/** Longest text that flows on, in characters. */
export const MAX_TEXT = 200_000;
export const MAX_ASSIGNEES = 20;
export const MAX_QUORUM = 20;

/** Hours between two reminders, of the hours that a node sets: at least one; 0 sends none. */
export const remindEvery = (remind_hours: number): number => (remind_hours > 0 ? Math.max(remind_hours, 1) : 0);

/** What a wait keeps of them. Waits of before there was anything to choose have none: the defaults are what they mean. */
export const ReviewTerms = z.object({
  assignees: z.array(Assignee).default([]),
  quorum: z.number().default(1),
  starter_may_decide: z.boolean().default(true),
  choices: z.array(ReviewChoice).default([...DEFAULT_CHOICES]),
  editable: z.boolean().default(false),
  /** Hours between two reminders; 0: none. */
  remind_hours: z.number().default(0),
  escalate_to: Assignee.nullable().default(null),
});
export type ReviewTerms = z.infer<typeof ReviewTerms>;

/** Where a review goes that nobody decides in time. */
export const lateChoice = (choices: readonly ReviewChoice[]): string => (choices.find(isRejecting) ?? choices.at(-1))?.id ?? "rejected";

// Ways out are asked for very often, of data that does not change.
const known = new WeakMap<object, readonly ReviewChoice[]>();

/** Of a node's data as it stands, which may not be whole while somebody works on it. */
export function choicesIn({ choices }: Readonly<Record<string, unknown>>): readonly ReviewChoice[] {
  if (!Array.isArray(choices)) return DEFAULT_CHOICES;
  const read =
    known.get(choices) ??
    choices.flatMap((one: unknown) => {
      const parsed = ReviewChoice.safeParse(one);
      return parsed.success ? [parsed.data] : [];
    });
  known.set(choices, read);
  return read;
}

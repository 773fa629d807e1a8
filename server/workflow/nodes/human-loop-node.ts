import { z } from "zod";
import { Email } from "#server/shared/primitives-schema.ts";
import { defineNode, type NodeProblem, type NodeScope, template } from "#server/workflow/nodes/definition.ts";
import { choiceName, isRejecting } from "#server/workflow/nodes/review-choices.ts";
import {
  Assignee,
  choicesIn,
  DECIDING_ROLES,
  DEFAULT_CHOICES,
  lateChoice,
  MAX_ASSIGNEES,
  MAX_QUORUM,
  MAX_TEXT,
  ReviewChoice,
  remindEvery,
} from "#server/workflow/nodes/review-terms.ts";

const HOUR_MS = 3_600_000;

/** What people decide, as their wait is resolved with it. */
export const Verdict = z.object({
  decision: z.enum(["approved", "rejected"]),
  /** Left out by those of before there was more to choose: the decision is the choice. */
  choice: z.string().optional(),
  comment: z.string().nullable(),
});

export type Verdict = z.infer<typeof Verdict>;

/** What stands before a reviewer's comment in the node's output. */
const commentOf = (output: string) => /^[A-Za-z0-9_-]{1,40}: ([\s\S]*)$/.exec(output)?.[1] ?? "";

const config = z.looseObject({
  title: z
    .string()
    .max(200)
    .default("")
    .meta({ title: "Title", description: "What the reviewer is asked", ...template }),
  description: z
    .string()
    .max(10_000)
    .default("")
    .meta({ title: "Description", description: "What the reviewer should know", widget: "textarea", ...template }),
  display_value: z
    .string()
    .max(200_000)
    .default("")
    .meta({ title: "Content to review", description: "Empty shows what came before", widget: "textarea", ...template }),
  assignees: z
    .array(Assignee)
    .max(MAX_ASSIGNEES)
    .default([])
    .meta({ title: "Reviewers", description: "No reviewers named: anyone in the project who can approve", widget: "assignees" }),
  quorum: z
    .number()
    .int()
    .min(1)
    .max(MAX_QUORUM)
    .default(1)
    .meta({ title: "How many must agree", description: "So many people choose the same; a single rejection decides" }),
  choices: z
    .array(ReviewChoice)
    .min(2)
    .max(4)
    .refine((choices) => new Set(choices.map(({ id }) => id)).size === choices.length, "each choice needs an id of its own")
    .default([...DEFAULT_CHOICES])
    .meta({
      title: "Choices",
      description: 'Each choice is an output of this node. "Danger" counts as a rejection and is used when the review times out.',
      widget: "rows",
      item: "choice",
    }),
  text: z
    .string()
    .max(MAX_TEXT)
    .default("")
    .meta({
      title: "Text that flows on",
      description: "Read as .text of this node; empty takes what came before",
      widget: "textarea",
      ...template,
    }),
  editable: z.boolean().default(false).meta({ title: "The text may be edited", description: "Reviewers can edit it before deciding" }),
  timeout_hours: z
    .number()
    .min(0)
    .max(24 * 366)
    .default(0)
    .meta({ title: "Timeout in hours", description: "After this time it counts as rejected; 0 waits for ever" }),
  notification_email: z
    .union([z.literal(""), Email])
    .default("")
    .meta({ title: "Notify by e-mail", description: "Gets a link to the review" }),
  starter_may_decide: z
    .boolean()
    .default(true)
    .meta({ title: "The person who started the run can decide", description: "When off, another reviewer has to decide", advanced: true }),
  remind_hours: z
    .number()
    .min(0)
    .max(24 * 366)
    .default(0)
    .meta({
      title: "Remind every so many hours",
      description:
        "Tells those who have not decided again, three times at most and before the deadline; reminders are at least an hour apart, and 0 sends none",
      advanced: true,
    }),
  escalate_to: Assignee.nullable()
    .default(null)
    .meta({ title: "Escalate to", description: "Is asked as well with the second reminder", widget: "assignees", advanced: true }),
});
type Config = z.infer<typeof config>;

/** Lists are searched for it as it is written, and addresses are the same in either case. */
const asKept = ({ kind, value }: Assignee): Assignee => ({ kind, value: value.toLowerCase() });

const isRole = (value: string) => (DECIDING_ROLES as readonly string[]).includes(value);

function problems(config: Config, scope: NodeScope): NodeProblem[] {
  const { assignees, quorum, choices, timeout_hours, remind_hours, escalate_to } = config;
  const found: NodeProblem[] = [];
  const names = choices.map(choiceName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) found.push({ field: "choices", message: `Two choices are called "${twice}". Give each a label of its own.` });
  if (choices.every(isRejecting))
    found.push({ field: "choices", message: "Every choice counts as a rejection. Give one another style than danger." });
  if (timeout_hours > 0 && !choices.some(isRejecting))
    found.push({ field: "choices", message: "Give one choice the style danger: it is used when the review times out." });
  for (const [field, asked] of [["assignees", assignees] as const, ["escalate_to", escalate_to ? [escalate_to] : []] as const]) {
    const wrong = asked.find(({ kind, value }) => kind === "role" && !isRole(value));
    if (wrong) found.push({ field, message: `"${wrong.value}" is no role that decides reviews: use approver, editor or admin.` });
  }
  const people =
    assignees.length > 0 && assignees.every(({ kind }) => kind === "user") ? new Set(assignees.map((one) => asKept(one).value)) : null;
  const deciding = people && [...people].filter((value) => scope.isReviewer?.(value) ?? true).length;
  if (people && people.size < quorum)
    found.push({
      field: "quorum",
      message: `${quorum} must agree, and ${people.size === 1 ? "one person is" : `${people.size} people are`} asked. Ask more, or want fewer.`,
    });
  else if (deciding !== null && deciding < quorum)
    found.push({
      field: "assignees",
      message: `${deciding === 0 ? "None" : `Only ${deciding}`} of the reviewers can decide in this project. Choose another reviewer, or change their role.`,
    });
  if (escalate_to && remind_hours === 0)
    found.push({ field: "remind_hours", message: "Say after how many hours people are reminded: the escalation follows a reminder." });
  if (timeout_hours > 0 && remindEvery(remind_hours) * (escalate_to ? 2 : 1) >= timeout_hours)
    found.push({
      field: "remind_hours",
      message: `The ${escalate_to ? "second reminder, and with it the escalation," : "reminder"} would come after the timeout. Remind earlier.`,
    });
  return found;
}

export const humanLoopNode = defineNode({
  type: "humanLoopNode",
  title: "Review",
  summary: "Waits until people decide: approve, reject, or one of up to four choices",
  group: "human",
  hasInput: true,
  handles: (data) => choicesIn(data).map(({ id }) => id),
  handleTitle(handle, data) {
    const choice = choicesIn(data).find(({ id }) => id === handle);
    const usual = DEFAULT_CHOICES.find(({ id }) => id === handle);
    // “approved” is what follows “Approve”.
    return choice && choice.label !== usual?.label ? choiceName(choice) : undefined;
  },
  refuses: { approved: ["loopNode", "humanLoopNode"], rejected: ["branchNode", "loopNode", "humanLoopNode"] },
  rejects: (data) =>
    choicesIn(data)
      .filter(isRejecting)
      .map(({ id }) => id),
  fields: {
    decision: ({ handle }) => handle ?? "",
    comment: ({ output }) => commentOf(output),
    text: ({ details }) => details.text ?? "",
  },
  hasField: (field, { text, editable }) => field !== "text" || editable === true || (typeof text === "string" && text.trim() !== ""),
  pin(output, data) {
    const ids = choicesIn(data).map(({ id }) => id);
    const decision = /^([A-Za-z0-9_-]{1,40})(?:: [\s\S]*)?$/.exec(output)?.[1];
    if (decision !== undefined && ids.includes(decision)) return { handle: decision };
    const [first = "approved"] = ids;
    return { refusal: `A Review leaves ${ids.join(" or ")} behind, with a comment as ${first}: Well done. Write it so.` };
  },
  input: "display_value",
  passesContent: true,
  isEffect: false,
  config,
  problems,
  run({ config, upstream, isWritten, now }) {
    const { assignees, quorum, starter_may_decide, choices, editable, timeout_hours, remind_hours, escalate_to } = config;
    const inHours = (hours: number) => (hours > 0 ? new Date(now().getTime() + hours * HOUR_MS) : null);
    const hasText = editable || isWritten("text");
    const asked = { assignees: assignees.map(asKept), escalate_to: escalate_to && asKept(escalate_to) };
    return {
      wait: {
        reason: "review",
        deadline: inHours(timeout_hours),
        title: config.title.trim(),
        description: config.description,
        display_value: isWritten("display_value") ? config.display_value : upstream,
        notification_email: config.notification_email || null,
        text: hasText ? (isWritten("text") ? config.text : upstream) : null,
        terms: { ...asked, quorum, starter_may_decide, choices, editable, remind_hours },
        remind_at: inHours(remindEvery(remind_hours)),
      },
    };
  },
  // It sends e-mails.
  reachesOut: ({ notification_email, assignees, escalate_to }) => notification_email !== "" || assignees.length > 0 || escalate_to !== null,
  resume(end, { choices }) {
    const late: Verdict = { decision: "rejected", choice: lateChoice(choices), comment: null };
    const { decision, choice = decision, comment } = end.status === "expired" ? late : Verdict.parse(end.outcome);
    const details = typeof end.text === "string" && { details: { text: end.text } };
    return { output: comment ? `${choice}: ${comment}` : choice, handle: choice, ...details };
  },
});

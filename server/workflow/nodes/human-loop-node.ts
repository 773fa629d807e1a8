import { z } from "zod";
import { defineNode, template } from "#server/workflow/nodes/definition.ts";

const HOUR_MS = 3_600_000;

/** What people decide, as their wait is resolved with it. */
export const Verdict = z.object({ decision: z.enum(["approved", "rejected"]), comment: z.string().nullable() });

export type Verdict = z.infer<typeof Verdict>;

/** What stands before a reviewer's comment in the node's output. */
const commentOf = (output: string) => /^(?:approved|rejected): ([\s\S]*)$/.exec(output)?.[1] ?? "";

export const humanLoopNode = defineNode({
  type: "humanLoopNode",
  title: "Review",
  summary: "Waits until a person approves or rejects",
  group: "human",
  hasInput: true,
  handles: ["approved", "rejected"],
  refuses: { approved: ["loopNode", "humanLoopNode"], rejected: ["branchNode", "loopNode", "humanLoopNode"] },
  rejects: "rejected",
  fields: { decision: ({ handle }) => handle ?? "", comment: ({ output }) => commentOf(output) },
  pin(output) {
    const decision = /^(approved|rejected)(?:: [\s\S]*)?$/.exec(output)?.[1];
    if (decision !== undefined) return { handle: decision };
    return { refusal: "A Review leaves approved or rejected behind, with a comment as approved: Well done. Write it so." };
  },
  input: "display_value",
  passesContent: true,
  isEffect: false,
  config: z.looseObject({
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
    timeout_hours: z
      .number()
      .min(0)
      .max(24 * 366)
      .default(0)
      .meta({ title: "Timeout in hours", description: "After this time it counts as rejected; 0 waits for ever" }),
    notification_email: z
      .union([z.literal(""), z.email()])
      .default("")
      .meta({ title: "Notify by e-mail", description: "Gets a link to the review" }),
  }),
  run: ({ config, upstream, isWritten, now }) => ({
    wait: {
      reason: "review",
      deadline: config.timeout_hours > 0 ? new Date(now().getTime() + config.timeout_hours * HOUR_MS) : null,
      title: config.title.trim(),
      description: config.description,
      display_value: isWritten("display_value") ? config.display_value : upstream,
      notification_email: config.notification_email || null,
    },
  }),
  // It sends an e-mail.
  reachesOut: ({ notification_email }) => notification_email !== "",
  resume(end) {
    const { decision, comment } = end.status === "expired" ? { decision: "rejected", comment: null } : Verdict.parse(end.outcome);
    return { output: comment ? `${decision}: ${comment}` : decision, handle: decision };
  },
});

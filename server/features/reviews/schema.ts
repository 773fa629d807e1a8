import { z } from "zod";
import { Reviewer } from "#server/runs/schema.ts";
import { Id, pageOf, pageQuery, Role, Timestamp } from "#server/shared/primitives-schema.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

export const ReviewStatus = z.enum(["waiting", "approved", "rejected", "withdrawn"]).meta({
  id: "ReviewStatus",
  description: "withdrawn: the run ended before anybody decided",
});
export type ReviewStatus = z.infer<typeof ReviewStatus>;

export const Decision = z.enum(["approved", "rejected"]);
export type Decision = z.infer<typeof Decision>;

const Comment = z
  .string()
  .trim()
  .max(10_000)
  .meta({ title: "Comment", description: "Goes on into the run with the decision", example: "Looks good" });

const verdict = {
  status: ReviewStatus,
  comment: z.string().nullable().meta({ example: null }),
  reviewer: Reviewer.nullable().meta({ description: "null while it waits, and after a timeout", example: null }),
  via: z.string().nullable().meta({ description: "ui, api, email or timeout", example: null }),
  due_at: Timestamp.nullable().meta({ description: "Then it counts as rejected; null waits for ever", example: null }),
  decided_at: Timestamp.nullable().meta({ example: null }),
};
const question = {
  label: z.string().meta({ description: "Label of the node", example: "Check" }),
  title: z.string().meta({ example: "Send this answer?" }),
  description: z.string().meta({ example: "Check facts and tone." }),
  display_value: z.string().meta({ description: "What is to be reviewed", example: "A loom turns thread into cloth." }),
  workflow_name: z.string(),
};

export const Review = z
  .object({
    id: Id,
    execution_id: Id,
    workflow_id: Id,
    node_id: z.string(),
    iteration: z.string().meta({ description: "Place in the loops around the node, such as 3 or 3.0; empty outside loops", example: "" }),
    ...question,
    ...verdict,
    role: Role.nullable().meta({ description: "The reviewer's role in the project at the time", example: null }),
    rejection_continues: z
      .boolean()
      .meta({ description: "true: the run goes on at Rejected; false: nothing is attached there, so a rejection ends the run" }),
    created_at: Timestamp,
  })
  .meta({ id: "Review" });
export type Review = z.infer<typeof Review>;

/** A review as lists show it: what it asks may have millions of characters. */
export const ReviewSummary = Review.extend({
  truncated: z.boolean().meta({
    description: `true when title, description or display_value is longer than the ${PREVIEW_CHARACTERS} characters of it shown in a list; GET /reviews/{review_id} has them whole`,
    example: false,
  }),
}).meta({ id: "ReviewSummary" });
export type ReviewSummary = z.infer<typeof ReviewSummary>;

export const ReviewPage = pageOf(ReviewSummary);
export const ListReviewsInput = z.strictObject({
  ...pageQuery,
  status: z.enum(["waiting", "decided"]).optional().meta({ description: "decided: approved or rejected; left out, all" }),
  execution_id: Id.optional().meta({ description: "Only those of this execution" }),
});
export type ListReviewsInput = z.infer<typeof ListReviewsInput>;
export const ReviewRef = z.strictObject({ review_id: Id });

/** For the badge of the navigation. Not part of the REST API. */
export const WaitingReviews = z.object({ count: z.number().int() });

export const ApproveInput = z.strictObject({
  execution_id: Id,
  decision: Decision,
  comment: Comment.optional(),
  node_id: z.string().min(1).max(200).optional().meta({ description: "May be left out when one review waits" }),
  iteration: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "Place in the loops around the node, such as 3 or 3.0; needed when the node waits at several" }),
});
export type ApproveInput = z.infer<typeof ApproveInput>;

const Token = z.string().min(1).max(200);
export const ReviewLink = z.strictObject({ token: Token });
export const DecideByLinkInput = z.strictObject({ token: Token, decision: Decision, comment: Comment.optional() });
export type DecideByLinkInput = z.infer<typeof DecideByLinkInput>;

/** What somebody with a link sees: this review and nothing else of the project. */
export const LinkedReview = z.object({ ...question, ...verdict });
export type LinkedReview = z.infer<typeof LinkedReview>;

import { z } from "zod";
import { Allowance, BudgetQuestion } from "#server/features/budgets/schema.ts";
import { EmailState } from "#server/platform/mail/schema.ts";
import { Iteration, IterationInput, Reviewer, ReviewVote } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";
import { Id, pageOf, pageQuery, Role, TimeInput, Timestamp } from "#server/shared/primitives-schema.ts";
import { Assignee, MAX_TEXT, ReviewChoice } from "#server/workflow/nodes/review-terms.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

export const ReviewStatus = z.enum(["waiting", "approved", "rejected", "withdrawn"]).meta({
  id: "ReviewStatus",
  description: "withdrawn: the run ended before a decision",
});
export type ReviewStatus = z.infer<typeof ReviewStatus>;

export const Decision = z.enum(["approved", "rejected"]);
export type Decision = z.infer<typeof Decision>;

const Comment = z
  .string()
  .trim()
  .max(10_000)
  .meta({ title: "Comment", description: "Goes on into the run with the decision", example: "Looks good" });

const Text = z
  .string()
  .max(MAX_TEXT)
  .meta({ description: "The text that flows on, changed; only where editable is true", example: "Dear Ada, the loom is mended." });

/** What somebody answers. */
const answer = {
  decision: Decision.optional().meta({
    description: "Of a review with choices of its own it may be left out, and it is enough where one choice can be meant",
    example: "approved",
  }),
  choice: z.string().min(1).max(40).optional().meta({ description: "Id of one of the review's choices", example: "approved" }),
  comment: Comment.optional(),
  text: Text.optional(),
  amount: Allowance.optional(),
};
export interface Answer {
  decision?: Decision | undefined;
  choice?: string | undefined;
  comment?: string | undefined;
  text?: string | undefined;
  amount?: number | undefined;
}

const verdict = {
  status: ReviewStatus,
  choice: z.string().nullable().meta({ description: "Id of the choice that was made", example: null }),
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
  text: z
    .string()
    .nullable()
    .meta({ description: "The text that flows on; null where the review has none", example: "Dear Ada, the loom is mended." }),
  editable: z.boolean().meta({ description: "Whether an answer may change the text", example: false }),
  choices: z
    .array(
      ReviewChoice.extend({ ends_run: z.boolean().meta({ description: "Nothing is attached there, so it ends the run as rejected" }) }),
    )
    .meta({ description: "The answers that there are; danger counts as a rejection" }),
  quorum: z.number().int().meta({ description: "So many must choose the same; a single rejection decides", example: 1 }),
  votes: z.array(ReviewVote).meta({ description: "Who has answered so far, where several must agree", example: [] }),
};

export const ReviewKind = z.enum(["review", "budget"]).meta({
  id: "ReviewKind",
  description: "review: a Review node asks; budget: a run asks whether it may spend more",
});

const ReviewRecipient = z.object({
  email: z.string().meta({ example: "pat@example.com" }),
  state: EmailState.meta({
    description:
      "open: emails are sent; unconfirmed: one was, and no other is before the person confirms the address; stopped: the person wants no emails of the project",
    example: "open",
  }),
});

export const Review = z
  .object({
    id: Id,
    kind: ReviewKind,
    execution_id: Id,
    workflow_id: Id,
    node_id: z.string(),
    iteration: Iteration,
    ...question,
    ...verdict,
    role: Role.nullable().meta({ description: "The reviewer's role in the project at the time", example: null }),
    rejection_continues: z
      .boolean()
      .meta({ description: "true: the run goes on at Rejected; false: nothing is attached there, so a rejection ends the run" }),
    assignees: z
      .array(Assignee.extend({ name: z.string().meta({ description: "For people to read", example: "Ada" }) }))
      .meta({ description: "Reviewers; empty: anyone who can approve", example: [] }),
    recipients: z.array(ReviewRecipient).meta({
      description: "Addresses that get a link to it by email, where a mail server is set: the node's, and those of members whom it names",
      example: [],
    }),
    may_decide: z.boolean().meta({ description: "Whether you may decide it", example: true }),
    budget: BudgetQuestion.nullable().meta({
      description: "Of kind budget, how it stands now; null in lists, and of others",
      example: null,
    }),
    created_at: Timestamp,
  })
  .meta({ id: "Review" });
export type Review = z.infer<typeof Review>;

/** A review as lists show it: what it asks may have millions of characters. */
export const ReviewSummary = Review.extend({
  truncated: z.boolean().meta({
    description: `true when title, description, display_value or text is longer than the ${PREVIEW_CHARACTERS} characters of it shown in a list; GET /reviews/{review_id} has them whole`,
    example: false,
  }),
}).meta({ id: "ReviewSummary" });
export type ReviewSummary = z.infer<typeof ReviewSummary>;

export const ReviewPage = pageOf(ReviewSummary);
export const ListReviewsInput = z.strictObject({
  ...pageQuery,
  status: z.enum(["waiting", "decided"]).optional().meta({ description: "decided: approved or rejected; left out, all" }),
  execution_id: Id.optional().meta({ description: "Only those of this execution" }),
  workflow_id: Id.optional().meta({ description: "Only those of this workflow" }),
  assigned_to: z.enum(["me"]).optional().meta({ description: "me: only those that name you or your role" }),
  due_before: TimeInput.optional().meta({
    description:
      "Only reviews whose deadline is before this time: a date-time with an offset, or a date, which counts to the end of its UTC day",
  }),
  sort: z
    .enum(["newest", "due"])
    .optional()
    .meta({ description: "newest, as it is without; due: what ends first comes first, then the oldest" }),
});
export type ListReviewsInput = z.infer<typeof ListReviewsInput>;
export const ReviewRef = z.strictObject({ review_id: Id });

/** For the badge of the navigation. Not part of the REST API. */
export const WaitingReviews = z.object({ count: z.number().int() });

export const ApproveInput = z.strictObject({
  execution_id: Id,
  ...answer,
  node_id: z.string().min(1).max(200).optional().meta({ description: "May be left out when one review waits" }),
  iteration: IterationInput.optional().meta({
    description:
      "Path of zero-based item indices in the loops around the node, such as 3 or 3.0; a plain integer is accepted, null means outside loops. Required when the node waits in several iterations",
    example: "3",
  }),
});
export type ApproveInput = z.infer<typeof ApproveInput>;

const Token = z.string().min(1).max(200);
export const ReviewLink = z.strictObject({ token: Token });
export const DecideByLinkInput = z.strictObject({ token: Token, ...answer });
export type DecideByLinkInput = z.infer<typeof DecideByLinkInput>;

/** Most answers that one request may give. */
export const MOST_ANSWERS = 100;
export const DecideReviewsInput = z.strictObject({
  answers: z
    .array(z.strictObject({ review_id: Id, ...answer }))
    .min(1)
    .max(MOST_ANSWERS)
    .meta({ description: `1 to ${MOST_ANSWERS}, each for itself` }),
});
export type DecideReviewsInput = z.infer<typeof DecideReviewsInput>;
export const DecidedReviews = z
  .object({
    results: z.array(
      z.object({
        review_id: Id,
        review: Review.nullable().meta({ description: "As it stands now; null when there is no such review", example: null }),
        error: ErrorBody.nullable().meta({ description: "Why this answer was not taken; null when it was", example: null }),
      }),
    ),
  })
  .meta({ id: "DecidedReviews" });
export type DecidedReviews = z.infer<typeof DecidedReviews>;

/** What somebody with a link sees: this review and nothing else of the project. */
export const LinkedReview = z.object({
  ...question,
  ...verdict,
  /** What whoever holds the link has answered, while others are still to. */
  own_choice: z.string().nullable(),
});
export type LinkedReview = z.infer<typeof LinkedReview>;

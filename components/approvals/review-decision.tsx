"use client";

import { MessageSquarePlus } from "lucide-react";
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { Answers } from "#components/approvals/answers.tsx";
import { draftedAnswer, dropDraft, isDraft, type ReviewDraft, useReviewDraft } from "#components/approvals/review-drafts.ts";
import { toReviewSummary } from "#components/approvals/use-reviews.ts";
import { Verdict } from "#components/approvals/verdict.tsx";
import { Votes } from "#components/approvals/votes.tsx";
import { FormFailure } from "#components/forms/form.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { CopyButton } from "#components/ui/copy.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { isRejecting } from "#server/workflow/nodes/review-choices.ts";

// Few runs wait for a budget.
const BudgetDecision = loadedOnUse(async () => (await import("#components/approvals/budget-decision.tsx")).BudgetDecision);

/** What somebody answers to a review. */
export interface ReviewAnswer {
  choice: string;
  comment?: string;
  text?: string;
}

export interface ReviewDecisionProps {
  review: ReviewSummary;
  /** Takes the answer in place of sending it at once; it is shown from then on as `review` says. */
  onAnswer?: (answer: ReviewAnswer) => void;
  /** Called once the server has taken the decision, or told that somebody was first. */
  onDecided?: (review: ReviewSummary) => void;
  /** Called when something is begun to be typed, and when it is sent or given up. */
  onTyping?: (isTyping: boolean) => void;
  /** Called when somebody who came too late has no need of the words any more. */
  onDismiss?: () => void;
  /** Where the room is needed for what is reviewed: the comment is asked for first. */
  isCompact?: boolean;
}

/** The answers with a comment, and the text where there is one; afterwards, or for who may not decide, how it stands. */
export function ReviewDecision({ review, onAnswer, onDecided, onTyping, onDismiss, isCompact = false }: ReviewDecisionProps) {
  const { user, project, canDecide } = useStudio();
  const { trpc, client, cache } = useApi();
  const [draft, setDraft] = useReviewDraft(review.id);
  const [known, setKnown] = useState<ReviewSummary | null>(null);
  const [pending, setPending] = useState<string | null>(null);
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const verdict = useRef<HTMLDivElement>(null);
  const hasDecided = useRef(false);
  const shown = known ?? review;
  const isOver = shown.status !== "waiting";
  const typed = draft.comment.trim();
  const isSending = pending !== null;
  const isTooLate = isOver && !isSending && isDraft(draft) && (shown.comment !== typed || shown.text !== (draft.text ?? shown.text));

  const type = (changes: Partial<ReviewDraft>) => {
    const next = { ...draft, ...changes };
    setDraft(changes);
    if (isDraft(next) !== isDraft(draft)) onTyping?.(isDraft(next));
  };

  const decide = async (choice: string) => {
    const { id: review_id, execution_id, node_id, iteration } = review;
    const answer = { choice, ...draftedAnswer(review) };
    if (onAnswer) return onAnswer(answer);
    hasDecided.current = true;
    setFailure(null);
    setPending(choice);
    const meant = review.choices.find(({ id }) => id === choice);
    // Shown at once; taken back when the server says no. Where several must agree only the server knows whether it is over.
    const hoped: ReviewSummary = {
      ...review,
      ...(answer.text !== undefined && { text: answer.text }),
      status: meant && isRejecting(meant) ? "rejected" : "approved",
      choice,
      comment: typed || null,
      reviewer: { id: user.id, email: user.email, name: user.name },
      role: project.role,
      via: "ui",
      decided_at: new Date().toISOString(),
    };
    if (review.quorum === 1) setKnown(hoped);
    const read = () => client.reviews.get.query({ review_id }).then(toReviewSummary);
    try {
      await client.executions.approve.mutate({ execution_id, node_id, iteration, ...answer });
      const settled = review.quorum === 1 ? hoped : await read();
      setKnown(settled);
      dropDraft(review_id);
      onTyping?.(false);
      if (settled.status !== "waiting") onDecided?.(settled);
    } catch (error) {
      setFailure(errorBodyOf(error));
      const found = await read().catch(() => null);
      const current = found && found.status !== "waiting" ? found : null;
      setKnown(current);
      if (current?.comment === typed && draft.text === null) {
        dropDraft(review_id); // it had arrived after all
        onTyping?.(false);
      }
      if (current) onDecided?.(current);
    } finally {
      setPending(null);
      void cache.invalidateQueries(trpc.reviews.pathFilter());
      void cache.invalidateQueries(trpc.notifications.pathFilter());
    }
  };

  const stopTyping = useEffectEvent(() => onTyping?.(false));
  useEffect(() => () => stopTyping(), []);

  // The button that had the focus is gone; whoever uses the keyboard goes on where it was.
  useEffect(() => {
    if (hasDecided.current && shown.status !== "waiting") verdict.current?.focus({ preventScroll: true });
  }, [shown.status]);

  const isAsked = review.may_decide && (!isOver || isTooLate);
  return (
    <div className="flex flex-col gap-3">
      {/* Its live region is there from the start: what comes into it is read out. */}
      <div ref={verdict} tabIndex={-1} className={cn("flex flex-col gap-2 focus:outline-none", !isOver && "sr-only")}>
        {isOver && <FormFailure failure={failure} />}
        <div aria-live="polite">
          <Verdict review={shown} isSending={isSending} />
        </div>
      </div>
      {!isOver && <Votes review={shown} />}
      {isAsked && review.kind === "budget" && !isOver && (
        <BudgetDecision
          review={review}
          onDecided={(decided) => {
            hasDecided.current = true;
            setKnown(decided);
            onDecided?.(decided);
          }}
        />
      )}
      {isAsked && review.kind === "review" && (
        <DecisionForm
          review={review}
          draft={draft}
          failure={failure}
          pending={pending}
          isCompact={isCompact}
          isTooLate={isTooLate}
          onType={type}
          onDecide={(choice) => void decide(choice)}
          onDismiss={() => {
            dropDraft(review.id);
            onTyping?.(false);
            onDismiss?.();
          }}
        />
      )}
      {!isOver && !review.may_decide && (
        <p className="text-12 text-ink-soft">
          {canDecide ? whoDecides(review) : "Approvers, editors and admins decide reviews. In this project you are a viewer."}
        </p>
      )}
    </div>
  );
}

/** Who may decide a review that one may not. */
function whoDecides({ assignees }: ReviewSummary): string {
  if (assignees.length === 0) return "You started this run, so another person has to decide.";
  return `This is for ${assignees.map(({ name }) => name).join(", ")} to decide.`;
}

const MAX_CHARACTERS = 10_000;

interface DecisionFormProps {
  review: ReviewSummary;
  draft: ReviewDraft;
  failure: ErrorBody | null;
  /** Id of the choice that is being sent. */
  pending: string | null;
  isCompact: boolean;
  /** Somebody was first: what was typed can only be copied. */
  isTooLate: boolean;
  onType(changes: Partial<ReviewDraft>): void;
  onDecide(choice: string): void;
  onDismiss(): void;
}

/** The text, the comment and the answers; for who comes too late the words, to be taken along. */
function DecisionForm(props: DecisionFormProps) {
  const { review, draft, failure, pending, isCompact, isTooLate, onType, onDecide, onDismiss } = props;
  const [isCommenting, setIsCommenting] = useState(!isCompact);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const choice = submitter instanceof HTMLButtonElement ? submitter.value : "";
    if (choice && pending === null && !isTooLate) onDecide(choice);
  };
  const name = review.title || review.label;
  const hasText = review.text !== null && review.editable;
  return (
    <form onSubmit={onSubmit} noValidate aria-label={isTooLate ? `Not sent: ${name}` : `Decide: ${name}`} className="flex flex-col gap-3">
      {hasText && (!isTooLate || draft.text !== null) && (
        <Field
          label={isTooLate ? "Your text, which was not sent" : "Text"}
          {...(!isTooLate && { hint: review.truncated ? "Show all of it to change it" : "Flows on as you leave it" })}
        >
          <Textarea
            rows={6}
            readOnly={isTooLate || review.truncated}
            value={draft.text ?? review.text ?? ""}
            data-text
            onChange={(event) => onType({ text: event.target.value === review.text ? null : event.target.value })}
          />
        </Field>
      )}
      {(isCommenting || isTooLate || draft.comment !== "") && (!isTooLate || draft.comment.trim() !== "") && (
        // One element before and after, so that whoever types keeps the place and the selection.
        <Field label={isTooLate ? "Your comment, which was not sent" : "Comment"} isOptional={!isTooLate}>
          <Textarea
            rows={2}
            autoFocus={isCompact && !isTooLate}
            readOnly={isTooLate}
            maxLength={MAX_CHARACTERS}
            placeholder="Goes on into the run with your decision"
            value={draft.comment}
            data-comment
            onChange={(event) => onType({ comment: event.target.value })}
          />
        </Field>
      )}
      {isTooLate ? (
        <div className="flex flex-wrap items-center gap-2">
          {draft.comment.trim() !== "" && <CopyButton isWide value={draft.comment} what="comment" className="max-sm:h-11 max-sm:flex-1" />}
          {draft.text !== null && <CopyButton isWide value={draft.text} what="text" className="max-sm:h-11 max-sm:flex-1" />}
          <Button
            className="max-sm:h-11 max-sm:flex-1"
            onClick={({ currentTarget }) => {
              // The button goes with the card; whoever uses the keyboard goes on in what is around it.
              currentTarget.closest<HTMLElement>("[data-focus-home], [role=tabpanel]")?.focus({ preventScroll: true });
              onDismiss();
            }}
          >
            Dismiss
          </Button>
        </div>
      ) : (
        <>
          <FormFailure failure={failure} />
          <Answers choices={review.choices} pending={pending}>
            {!isCommenting && draft.comment === "" && (
              <Button
                variant="ghost"
                icon={<MessageSquarePlus />}
                data-comment
                className="max-sm:h-11 max-sm:w-full"
                onClick={() => setIsCommenting(true)}
              >
                Add a comment
              </Button>
            )}
          </Answers>
        </>
      )}
    </form>
  );
}

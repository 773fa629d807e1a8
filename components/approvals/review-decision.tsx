"use client";

import { Check, MessageSquarePlus, X } from "lucide-react";
import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { toReviewSummary } from "#components/approvals/use-reviews.ts";
import { Verdict } from "#components/approvals/verdict.tsx";
import { FormFailure } from "#components/forms/form.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { CopyButton } from "#components/ui/copy.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { Decision, type Review, type ReviewSummary } from "#server/features/reviews/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

export interface ReviewDecisionProps {
  review: ReviewSummary;
  /** Called once the server has taken the decision, or told that somebody was first. */
  onDecided?: (review: ReviewSummary) => void;
  /** Called when a comment is begun, and when it is sent or given up. */
  onTyping?: (isTyping: boolean) => void;
  /** Called when somebody who came too late has no need of the comment any more. */
  onDismiss?: () => void;
  /** Where the room is needed for what is reviewed: the comment is asked for first. */
  isCompact?: boolean;
}

/** The two answers with a comment; afterwards, or for who may not decide, how it stands. */
export function ReviewDecision({ review, onDecided, onTyping, onDismiss, isCompact = false }: ReviewDecisionProps) {
  const { canDecide, user, project } = useStudio();
  const { trpc, client, cache } = useApi();
  const [comment, setComment] = useState("");
  const [known, setKnown] = useState<ReviewSummary | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const verdict = useRef<HTMLDivElement>(null);
  const hasDecided = useRef(false);
  const shown = known ?? review;
  const isOver = shown.status !== "waiting";
  const typed = comment.trim();
  const isTooLate = isOver && !isSending && typed !== "" && shown.comment !== typed;

  const type = (text: string) => {
    setComment(text);
    const isTyping = text.trim() !== "";
    if (isTyping !== (typed !== "")) onTyping?.(isTyping);
  };

  const decide = async (decision: Decision) => {
    const { id: review_id, execution_id, node_id, iteration } = review;
    hasDecided.current = true;
    setFailure(null);
    setIsSending(true);
    // Shown at once; taken back when the server says no.
    const hoped: ReviewSummary = {
      ...review,
      status: decision,
      comment: typed || null,
      reviewer: { id: user.id, email: user.email, name: user.name },
      role: project.role,
      via: "ui",
      decided_at: new Date().toISOString(),
    };
    setKnown(hoped);
    try {
      await client.executions.approve.mutate({ execution_id, node_id, iteration, decision, ...(typed && { comment: typed }) });
      onTyping?.(false);
      onDecided?.(hoped);
    } catch (error) {
      setFailure(errorBodyOf(error));
      const found = await client.reviews.get.query({ review_id }).catch(() => null);
      const current = found && found.status !== "waiting" ? toReviewSummary(found) : null;
      setKnown(current);
      if (current?.comment === typed) onTyping?.(false); // it had arrived after all
      if (current) onDecided?.(current);
    } finally {
      setIsSending(false);
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

  const isAsked = canDecide && (!isOver || isTooLate);
  return (
    <div className="flex flex-col gap-3">
      {/* Its live region is there from the start: what comes into it is read out. */}
      <div ref={verdict} tabIndex={-1} className={cn("flex flex-col gap-2 focus:outline-none", !isOver && "sr-only")}>
        {isOver && <FormFailure failure={failure} />}
        <div aria-live="polite">
          <Verdict review={shown} isSending={isSending} />
        </div>
      </div>
      {isAsked && (
        <DecisionForm
          review={review}
          comment={comment}
          failure={failure}
          isSending={isSending}
          isCompact={isCompact}
          isTooLate={isTooLate}
          onComment={type}
          onDecide={(decision) => void decide(decision)}
          onDismiss={() => {
            type("");
            onDismiss?.();
          }}
        />
      )}
      {!isOver && !canDecide && (
        <p className="text-12 text-ink-soft">Approvers, editors and admins decide reviews. In this project you are a viewer.</p>
      )}
    </div>
  );
}

const MAX_CHARACTERS = 10_000;

interface DecisionFormProps {
  review: Review;
  comment: string;
  failure: ErrorBody | null;
  isSending: boolean;
  isCompact: boolean;
  /** Somebody was first: what was typed can only be copied. */
  isTooLate: boolean;
  onComment(comment: string): void;
  onDecide(decision: Decision): void;
  onDismiss(): void;
}

/** The comment and the two answers; for who comes too late the comment, to be taken along. */
export function DecisionForm(props: DecisionFormProps) {
  const { review, comment, failure, isSending, isCompact, isTooLate, onComment, onDecide, onDismiss } = props;
  const [isCommenting, setIsCommenting] = useState(!isCompact);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const decision = Decision.safeParse(submitter instanceof HTMLButtonElement ? submitter.value : undefined);
    if (decision.success && !isSending && !isTooLate) onDecide(decision.data);
  };
  const name = review.title || review.label;
  return (
    <form onSubmit={onSubmit} noValidate aria-label={isTooLate ? `Not sent: ${name}` : `Decide: ${name}`} className="flex flex-col gap-3">
      {(isCommenting || isTooLate) && (
        // One element before and after, so that whoever types keeps the place and the selection.
        <Field label={isTooLate ? "Your comment, which was not sent" : "Comment"} isOptional={!isTooLate}>
          <Textarea
            rows={2}
            autoFocus={isCompact && !isTooLate}
            readOnly={isTooLate}
            maxLength={MAX_CHARACTERS}
            placeholder="Goes on into the run with your decision"
            value={comment}
            data-comment
            onChange={(event) => onComment(event.target.value)}
          />
        </Field>
      )}
      {isTooLate ? (
        <div className="flex flex-wrap items-center gap-2">
          <CopyButton isWide value={comment} what="comment" className="max-sm:h-11 max-sm:flex-1" />
          <Button
            className="max-sm:h-11 max-sm:flex-1"
            onClick={({ currentTarget }) => {
              // The button goes with the card; whoever uses the keyboard goes on in what is around it.
              currentTarget.closest<HTMLElement>("[role=tabpanel]")?.focus({ preventScroll: true });
              onDismiss();
            }}
          >
            Dismiss
          </Button>
        </div>
      ) : (
        <>
          <FormFailure failure={failure} />
          <Answers review={review} isSending={isSending} onAddComment={isCommenting ? null : () => setIsCommenting(true)} />
        </>
      )}
    </form>
  );
}

interface AnswersProps {
  review: Review;
  isSending: boolean;
  /** Null when there is a field for it already. */
  onAddComment: (() => void) | null;
}

function Answers({ review, isSending, onAddComment }: AnswersProps) {
  const hint = useId();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button type="submit" value="approved" variant="primary" icon={<Check />} disabled={isSending} className="max-sm:h-11 max-sm:flex-1">
        Approve
      </Button>
      <Button
        type="submit"
        value="rejected"
        icon={<X />}
        disabled={isSending}
        aria-describedby={hint}
        className="max-sm:h-11 max-sm:flex-1"
      >
        Reject
      </Button>
      {onAddComment && (
        <Button variant="ghost" icon={<MessageSquarePlus />} data-comment className="max-sm:h-11 max-sm:w-full" onClick={onAddComment}>
          Add a comment
        </Button>
      )}
      <p id={hint} className="text-12 text-ink-soft max-sm:w-full">
        {review.rejection_continues ? "If you reject, the run goes on at Rejected." : "If you reject, the run ends as rejected."}
      </p>
    </div>
  );
}

"use client";

import { Check, MessageSquarePlus, X } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import { Decision, type Review } from "#server/features/reviews/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

const MOST_CHARACTERS = 10_000;

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
            maxLength={MOST_CHARACTERS}
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

"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Check, MessageSquarePlus, X } from "lucide-react";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { Verdict } from "#components/approvals/verdict.tsx";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
import type { ErrorBody } from "#server/schemas/error.ts";
import { Decision, type Review } from "#server/schemas/review.ts";

const MOST_CHARACTERS = 10_000;

export interface ReviewDecisionProps {
  review: Review;
  /** Called once the server has taken the decision, or told that somebody was first. */
  onDecided?: (review: Review) => void;
  /** Where the room is needed for what is reviewed: the comment is asked for first. */
  isCompact?: boolean;
}

/** The two answers with a comment; afterwards, or for who may not decide, how it stands. */
export function ReviewDecision({ review, onDecided, isCompact = false }: ReviewDecisionProps) {
  const { canEdit, user, project } = useStudio();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const [comment, setComment] = useState("");
  const [known, setKnown] = useState<Review | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const verdict = useRef<HTMLDivElement>(null);
  const hasDecided = useRef(false);
  const shown = known ?? review;

  const decide = async (decision: Decision) => {
    const { id: review_id, execution_id, node_id, iteration } = review;
    const words = comment.trim();
    hasDecided.current = true;
    setFailure(null);
    setIsSending(true);
    // Shown at once; taken back when the server says no.
    const hoped: Review = {
      ...review,
      status: decision,
      comment: words || null,
      reviewer: { id: user.id, email: user.email, name: user.name },
      role: project.role,
      via: "ui",
      decided_at: new Date().toISOString(),
    };
    setKnown(hoped);
    try {
      await client.executions.approve.mutate({ execution_id, node_id, iteration, decision, ...(words && { comment: words }) });
      onDecided?.(hoped);
    } catch (error) {
      setFailure(errorBodyOf(error));
      const current = await client.reviews.get.query({ review_id }).catch(() => null);
      const isOver = current !== null && current.status !== "waiting";
      setKnown(isOver ? current : null);
      if (isOver) onDecided?.(current);
    } finally {
      setIsSending(false);
      void cache.invalidateQueries(trpc.reviews.pathFilter());
      void cache.invalidateQueries(trpc.notifications.pathFilter());
    }
  };

  // The button that had the focus is gone; whoever uses the keyboard goes on where it was.
  useEffect(() => {
    if (hasDecided.current && shown.status !== "waiting") verdict.current?.focus({ preventScroll: true });
  }, [shown.status]);

  if (shown.status !== "waiting")
    return (
      <div ref={verdict} tabIndex={-1} className="flex flex-col gap-2 focus:outline-none">
        <FormFailure failure={failure} />
        <div aria-live="polite">
          <Verdict review={shown} isSending={isSending} />
        </div>
      </div>
    );
  if (!canEdit) return <p className="text-12 text-ink-soft">Editors and admins decide reviews. In this project you are a viewer.</p>;
  return (
    <DecisionForm
      review={review}
      comment={comment}
      failure={failure}
      isSending={isSending}
      isCompact={isCompact}
      onComment={setComment}
      onDecide={(decision) => void decide(decision)}
    />
  );
}

interface DecisionFormProps {
  review: Review;
  comment: string;
  failure: ErrorBody | null;
  isSending: boolean;
  isCompact: boolean;
  onComment(comment: string): void;
  onDecide(decision: Decision): void;
}

function DecisionForm({ review, comment, failure, isSending, isCompact, onComment, onDecide }: DecisionFormProps) {
  const hint = useId();
  const [isCommenting, setIsCommenting] = useState(!isCompact);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const decision = Decision.safeParse(submitter instanceof HTMLButtonElement ? submitter.value : undefined);
    if (decision.success && !isSending) onDecide(decision.data);
  };
  return (
    <form onSubmit={onSubmit} noValidate aria-label={`Decide: ${review.title || review.label}`} className="flex flex-col gap-3">
      {isCommenting && (
        <Field label="Comment" isOptional>
          <Textarea
            rows={2}
            autoFocus={isCompact}
            maxLength={MOST_CHARACTERS}
            placeholder="Goes on into the run with your decision"
            value={comment}
            data-comment
            onChange={(event) => onComment(event.target.value)}
          />
        </Field>
      )}
      <FormFailure failure={failure} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          type="submit"
          value="approved"
          variant="primary"
          icon={<Check />}
          disabled={isSending}
          className="max-sm:h-11 max-sm:flex-1"
        >
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
        {!isCommenting && (
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
        <p id={hint} className="text-12 text-ink-soft max-sm:w-full">
          {review.rejection_continues ? "If you reject, the run goes on at Rejected." : "If you reject, the run ends as rejected."}
        </p>
      </div>
    </form>
  );
}

"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { DecisionForm } from "#components/approvals/decision-form.tsx";
import { wholeSummary } from "#components/approvals/use-whole-review.ts";
import { Verdict } from "#components/approvals/verdict.tsx";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import type { Decision, ReviewSummary } from "#server/features/reviews/schema.ts";
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
  const { canEdit, user, project } = useStudio();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
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
      const current = found && found.status !== "waiting" ? wholeSummary(found) : null;
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

  const isAsked = canEdit && (!isOver || isTooLate);
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
      {!isOver && !canEdit && <p className="text-12 text-ink-soft">Editors and admins decide reviews. In this project you are a viewer.</p>}
    </div>
  );
}

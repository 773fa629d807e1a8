"use client";

import Link from "next/link";
import { type ReactNode, useId } from "react";
import { ReviewContent } from "#components/approvals/review-content.tsx";
import { ReviewDecision, type ReviewDecisionProps } from "#components/approvals/review-decision.tsx";
import { useWholeReview } from "#components/approvals/use-whole-review.ts";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import type { Review } from "#server/features/reviews/schema.ts";

/** When an open review ends by itself. */
function Deadline({ dueAt }: { dueAt: string | null }) {
  if (dueAt === null) return <>No deadline</>;
  return (
    <span className="text-waiting">
      Rejected <Time value={dueAt} /> if nobody decides
    </span>
  );
}

interface ReviewCardProps extends Omit<ReviewDecisionProps, "isCompact"> {
  /** False on the page of the run itself. */
  hasRun?: boolean;
  /** Without a frame of its own, where something around it is one. */
  isPlain?: boolean;
}

/** One review with all that is needed to decide it, and afterwards who did. */
export function ReviewCard({ hasRun = true, isPlain = false, ...decision }: ReviewCardProps) {
  const { shown: review, missing } = useWholeReview(decision.review);
  const titleId = useId();
  const isWaiting = review.status === "waiting";
  return (
    <article
      aria-labelledby={titleId}
      data-review={review.id}
      tabIndex={-1}
      className={cn("focus:outline-none", !isPlain && "overflow-hidden rounded-lg border bg-surface", isWaiting && "border-waiting/50")}
    >
      <div className={cn("flex flex-col gap-3", !isPlain && "p-4 max-sm:p-3.5")}>
        <header className="flex flex-col gap-1">
          <h2 id={titleId} className="flex items-start gap-2 break-words font-semibold text-15">
            {isWaiting && <StatusIcon status="waiting" className="mt-1" />}
            <span className="min-w-0">{review.title || review.label}</span>
          </h2>
          <ReviewFacts review={review} hasRun={hasRun} />
        </header>
        <ReviewContent review={review} missing={missing} />
        {/* In a panel the answers stay in view while the content is read; on a phone they would leave no room to read it in. */}
        <div className={cn(isPlain && isWaiting && "-mx-3 -mb-3 border-t bg-surface px-3 py-2.5 md:sticky md:-bottom-3 md:z-1")}>
          <ReviewDecision {...decision} isCompact={isPlain} />
        </div>
      </div>
    </article>
  );
}

function ReviewFacts({ review, hasRun }: { review: Review; hasRun: boolean }) {
  const facts: [string, ReactNode][] = [];
  if (hasRun)
    facts.push([
      "Workflow",
      <Link key="run" href={`/runs/${review.execution_id}`} className="inline-flex min-h-6 items-center text-thread-text hover:underline">
        {review.workflow_name}
        <span className="sr-only">, open the run</span>
      </Link>,
    ]);
  if (review.label !== review.title) facts.push(["Node", review.label]);
  if (review.iteration !== "") facts.push(["Item", `item ${review.iteration}`]);
  facts.push(["Asked", <Time key="asked" value={review.created_at} />]);
  if (review.status === "waiting") facts.push(["Deadline", <Deadline key="due" dueAt={review.due_at} />]);
  return (
    <dl className="flex flex-wrap items-center gap-x-1.5 text-12 text-ink-soft [&>div+div]:before:text-ink-faint [&>div+div]:before:content-['·'] [&>div]:flex [&>div]:min-h-6 [&>div]:items-center [&>div]:gap-1.5">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="sr-only">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

"use client";

import { type ReactNode, useId, useState } from "react";
import { ReviewDecision, type ReviewDecisionProps } from "#components/approvals/review-decision.tsx";
import { type MissingPart, useReviewContent } from "#components/approvals/use-reviews.ts";
import { formatItem } from "#components/format.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { StatusIcon } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import type { Review } from "#server/features/reviews/schema.ts";
import { visibleName, visibleText } from "#server/shared/visible-text.ts";

/** When an open review ends by itself. */
function Deadline({ dueAt }: { dueAt: string | null }) {
  if (dueAt === null) return <>No deadline</>;
  return (
    <span className="text-waiting">
      Rejected <Time value={dueAt} /> without a decision
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
  // What may be changed is needed whole.
  const { shown: review, missing } = useReviewContent(decision.review, decision.review.editable);
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
          <h2 id={titleId} className="flex items-start gap-2 break-words font-semibold text-16">
            {isWaiting && <StatusIcon status="waiting" className="mt-1" />}
            <span className="min-w-0">{visibleName(review.title || review.label)}</span>
          </h2>
          <ReviewFacts review={review} hasRun={hasRun} />
        </header>
        <ReviewContent review={review} missing={missing} />
        {review.text !== null && !(review.editable && isWaiting && review.may_decide) && (
          <section aria-label="Text that flows on" className="flex flex-col gap-1">
            <p className="text-12 text-ink-soft">Text that flows on</p>
            <p className="whitespace-pre-wrap break-words rounded-md border px-3 py-2.5 text-14">{visibleText(review.text)}</p>
          </section>
        )}
        {/* In a panel the answers stay in view while the content is read; on a phone they would leave no room to read it in. */}
        <div className={cn(isPlain && isWaiting && "-mx-3 -mb-3 border-t bg-surface px-3 py-2.5 md:sticky md:-bottom-3 md:z-1")}>
          <ReviewDecision {...decision} review={review} isCompact={isPlain} />
        </div>
      </div>
    </article>
  );
}

const RECIPIENT_STATES = { open: "", unconfirmed: " (not confirmed yet)", stopped: " (stopped emails of this project)" };

const formatRecipient = ({ email, state }: Review["recipients"][number]) => `${visibleName(email)}${RECIPIENT_STATES[state]}`;

function ReviewFacts({ review, hasRun }: { review: Review; hasRun: boolean }) {
  const facts: [string, ReactNode][] = [];
  if (hasRun)
    facts.push([
      "Workflow",
      <Link key="run" href={`/runs/${review.execution_id}`} className="inline-flex min-h-6 items-center text-thread-text hover:underline">
        {visibleName(review.workflow_name)}
        <span className="sr-only">, open the run</span>
      </Link>,
    ]);
  if (review.label !== review.title) facts.push(["Node", visibleName(review.label)]);
  if (review.iteration !== null) facts.push(["Item", formatItem(review.iteration)]);
  facts.push(["Asked", <Time key="asked" value={review.created_at} />]);
  if (review.status === "waiting") facts.push(["Deadline", <Deadline key="due" dueAt={review.due_at} />]);
  if (review.assignees.length > 0) facts.push(["Asked of", `for ${review.assignees.map(({ name }) => visibleName(name)).join(", ")}`]);
  if (review.recipients.length > 0) facts.push(["By email", `by email to ${review.recipients.map(formatRecipient).join(", ")}`]);
  return (
    <dl className="flex flex-wrap items-center gap-x-1.5 text-12 text-ink-soft [&>div:not(:last-child)]:after:text-ink-faint [&>div:not(:last-child)]:after:content-['·'] [&>div]:flex [&>div]:min-h-6 [&>div]:items-center [&>div]:gap-1.5">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="sr-only">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// Loaded with the first review that has a description: the renderer is heavy, and the editor shows reviews too.

/** More than this is folded at first, so that the answer is not a page away. */
const FOLD_CHARACTERS = 1200;
const FOLD_LINES = 16;

const isLong = (text: string) => text.length > FOLD_CHARACTERS || text.split("\n", FOLD_LINES + 1).length > FOLD_LINES;

interface ReviewContentProps {
  review: Pick<Review, "description" | "display_value">;
  /** What the list left out of it. */
  missing: MissingPart | null;
}

/** What a reviewer is shown: the description, and the content to decide about. */
export function ReviewContent({ review: { description, display_value }, missing }: ReviewContentProps) {
  const [isOpen, setIsOpen] = useState(false);
  const hasLongContent = isLong(display_value) && display_value.trim() !== "";
  const isFolded = hasLongContent && (!isOpen || missing !== null);
  const toggle = () => {
    setIsOpen(missing !== null || !isOpen);
    missing?.load();
  };
  const fold = (missing !== null || hasLongContent) && (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Button size="sm" variant="ghost" aria-expanded={isOpen && !missing} isPending={missing?.isLoading ?? false} onClick={toggle}>
        {isOpen && !missing ? "Show less" : "Show all"}
      </Button>
      {missing && <span className="text-12 text-ink-soft">Only the beginning is shown.</span>}
    </div>
  );
  return (
    <>
      {description.trim() !== "" && (
        <Markdown showsHidden className="text-14 text-ink-soft">
          {description}
        </Markdown>
      )}
      {/* A short content is whole, so it is the description or the title that was cut. */}
      {!hasLongContent && fold}
      {display_value.trim() !== "" && (
        <section aria-label="Content to review" className="rounded-md border">
          <div
            className={cn(
              "min-w-0 px-3 py-2.5",
              isFolded && "max-h-72 overflow-hidden [mask:linear-gradient(to_top,transparent,#000_48px)]",
            )}
          >
            {/* Folded, what cannot be seen cannot be reached by Tab either. */}
            <div inert={isFolded}>
              {/* Half a JSON value is neither JSON nor Markdown. */}
              <ValueView
                showsHidden
                value={display_value}
                what="content"
                format={missing && /^\s*[[{]/.test(display_value) ? "text" : "markdown"}
              />
            </div>
          </div>
          {hasLongContent && <div className="border-t px-3 py-1.5">{fold}</div>}
        </section>
      )}
      {missing && !missing.isLoading && <LoadFailure query={{ error: missing.error, refetch: missing.load }} />}
    </>
  );
}

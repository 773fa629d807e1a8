"use client";

import { choiceOf } from "#components/approvals/answers.tsx";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import type { Review } from "#server/features/reviews/schema.ts";
import { visibleName, visibleText } from "#server/shared/visible-text.ts";
import { choiceName } from "#server/workflow/nodes/review-choices.ts";

const VIA: Record<string, string> = {
  ui: "in the web app",
  api: "over the API",
  email: "by e-mail",
  assistant: "through the assistant",
};

/** Who a verdict is from, as far as it is known: "by Ada (admin) over the API". */
export function formatReviewer({ via, reviewer, role }: Pick<Review, "via" | "reviewer" | "role">): string {
  if (via === "timeout") return "because the review timed out";
  if (via === "budget") return "because the budget had room again";
  const name = visibleName(reviewer?.name || reviewer?.email || "a former member");
  return [`by ${name}`, role && `(${role})`, via && VIA[via]].filter(Boolean).join(" ");
}

/** What was decided, in a word: the choice by its name, where it is another than to approve or reject. */
export function verdictWord(review: Pick<Review, "status" | "choice" | "choices"> & { kind?: Review["kind"] }): string {
  if (review.kind === "budget") return review.status === "approved" ? "Allowed to spend more" : "Not allowed to spend more";
  const own = choiceOf(review, review.choice);
  if (own && !["Approve", "Reject"].includes(own.label)) return choiceName(own);
  return review.status === "approved" ? "Approved" : "Rejected";
}

/** How a review was decided: by whom, in which role, which way and when, and with which words. */
export function Verdict({ review, isSending = false }: { review: Review; isSending?: boolean }) {
  const { status, comment, decided_at } = review;
  if (status === "waiting") return null;
  if (status === "withdrawn")
    return (
      <p className="flex items-start gap-2 text-14 text-ink-soft">
        <StatusIcon status="skipped" isDecorative className="mt-0.75" />
        Not needed any more: the run ended before anybody decided.
      </p>
    );
  const isApproved = status === "approved";
  return (
    <div className="flex items-start gap-2 text-14">
      <StatusIcon status={isSending ? "running" : isApproved ? "complete" : "cancelled"} isDecorative className="mt-0.75" />
      <div className="min-w-0 flex-1">
        <p>
          <strong className={cn("font-semibold", isApproved && "text-complete")}>{verdictWord(review)}</strong> {formatReviewer(review)}
          {decided_at && (
            <>
              , <Time value={decided_at} />
            </>
          )}
        </p>
        {comment && (
          <blockquote className="mt-1 whitespace-pre-wrap break-words border-line-strong border-l-2 pl-2.5 text-ink-soft">
            {visibleText(comment)}
          </blockquote>
        )}
      </div>
    </div>
  );
}

"use client";

import { Check, Undo2, X } from "lucide-react";
import { useEffect, useState } from "react";
import { pendingWord } from "#components/approvals/review-row.tsx";
import type { Outcome, Pending } from "#components/approvals/use-pending-answers.ts";
import { plural } from "#components/format.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { Decision, ReviewSummary } from "#server/features/reviews/schema.ts";

interface AnswerBarProps {
  pending: readonly Pending[];
  selected: readonly ReviewSummary[];
  /** How many of those that wait were not selected with all. */
  leftOut: number;
  onAnswer: (decision: Decision) => void;
  onClear: () => void;
  onUndo: () => void;
  onSend: () => void;
}

/** What can be done with the selected reviews, and what can still be taken back. Loaded with the first of either. */
export function AnswerBar({ pending, selected, leftOut, onAnswer, onClear, onUndo, onSend }: AnswerBarProps) {
  return (
    <>
      {selected.length > 0 && (
        <div className={BAR}>
          <span className="text-14">
            <span className="font-semibold">{selected.length} selected</span>
            {leftOut > 0 && <span className="text-ink-soft">, {leftOut} are not for you to decide, or only one by one</span>}
          </span>
          <Button variant="primary" icon={<Check />} className={BUTTON} onClick={() => onAnswer("approved")}>
            Approve {selected.length}
          </Button>
          <Button icon={<X />} className={BUTTON} onClick={() => onAnswer("rejected")}>
            Reject {selected.length}
          </Button>
          <Button variant="ghost" className={BUTTON} onClick={onClear}>
            Clear
          </Button>
        </div>
      )}
      {pending.length > 0 && (
        <div className={BAR}>
          <span className="text-14">
            {pendingWords(pending)} <Countdown until={pending.at(-1)?.at ?? 0} />
          </span>
          <Button icon={<Undo2 />} className={BUTTON} onClick={onUndo}>
            Undo
          </Button>
          <Button variant="ghost" className={BUTTON} onClick={onSend}>
            Send now
          </Button>
        </div>
      )}
    </>
  );
}

const BAR =
  "pointer-events-auto flex max-w-full flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line-strong bg-raised px-3 py-2 shadow-lg max-sm:w-full";
const BUTTON = "max-sm:h-11 max-sm:flex-1";

function pendingWords(pending: readonly Pending[]): string {
  const [only] = pending;
  if (pending.length === 1 && only) {
    const title = only.review.title || only.review.label;
    return `${pendingWord(only)}: ${title}${/[.?!…]$/.test(title) ? "" : "."}`;
  }
  return `${plural(pending.length, "review")} answered.`;
}

/** "Sent in 8 s", not read out each second. */
function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <span aria-hidden className="text-ink-faint tabular">
      Sent in {Math.max(0, Math.ceil((until - now) / 1000))} s
    </span>
  );
}

const MOST_LISTED = 20;

interface OutcomeNoticeProps {
  outcome: Outcome;
  onShow: (review: ReviewSummary) => void;
  onRetry: () => void;
  onDismiss: () => void;
}

/** How several answers have come out: how many were taken, and why the others were not. */
export function OutcomeNotice({ outcome: { taken, refused }, onShow, onRetry, onDismiss }: OutcomeNoticeProps) {
  const total = taken + refused.length;
  const isUnsent = refused.length > 0 && refused.every((one) => one.isUnsent);
  return (
    <Notice
      tone={refused.length ? "failed" : "complete"}
      title={
        total === 1 && refused.length
          ? "Your answer was not taken"
          : refused.length
            ? `${taken} of ${plural(total, "answer")} were taken`
            : `${plural(taken, "answer")} taken`
      }
      actions={
        <>
          {isUnsent && (
            <Button size="sm" variant="primary" onClick={onRetry}>
              Send again
            </Button>
          )}
          <Button size="sm" onClick={onDismiss}>
            Close
          </Button>
        </>
      }
    >
      {refused.length > 0 && (
        <ul className="flex flex-col gap-1">
          {refused.slice(0, MOST_LISTED).map(({ review, reason }) => (
            <li key={review.id}>
              <button type="button" className="font-semibold text-thread-text hover:underline" onClick={() => onShow(review)}>
                {review.title || review.label}
              </button>
              {`: ${reason}`}
            </li>
          ))}
          {refused.length > MOST_LISTED && <li>{refused.length - MOST_LISTED} more. What you typed there is kept.</li>}
        </ul>
      )}
    </Notice>
  );
}

"use client";

import { Undo2 } from "lucide-react";
import { choiceOf } from "#components/approvals/answers.tsx";
import type { Pending } from "#components/approvals/use-pending-answers.ts";
import { verdictWord } from "#components/approvals/verdict.tsx";
import { ownVote, votesLine } from "#components/approvals/votes.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { cn } from "#components/ui/cn.ts";
import { Time } from "#components/ui/time.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";
import { visibleName } from "#server/shared/visible-text.ts";
import { choiceName } from "#server/workflow/nodes/review-choices.ts";

/** What an answer that is not sent yet says. */
export function pendingWord({ review, answer }: Pending): string {
  const choice = choiceOf(review, answer.choice ?? null);
  return choice ? choiceName(choice) : answer.decision === "rejected" ? "Reject" : "Approve";
}

interface ReviewRowProps {
  review: ReviewSummary;
  /** It is the one whose details are shown. */
  isShown: boolean;
  /** It was chosen, and does not only stand beside the list where there is room. */
  isChosen: boolean;
  isSelected: boolean;
  pending: Pending | undefined;
  /** Left out where nothing can be selected. */
  onSelect?: (isSelected: boolean) => void;
  onShow: () => void;
}

/** One review in the list: what is asked, where, until when, and who has agreed. */
export function ReviewRow({ review, isShown, isChosen, isSelected, pending, onSelect, onShow }: ReviewRowProps) {
  const { title, label, workflow_name, due_at, status, quorum, assignees, decided_at } = review;
  const name = visibleName(title || label);
  const own = ownVote(review, useStudio().user.id);
  const facts = [
    quorum > 1 && status === "waiting" && votesLine(review),
    own && status === "waiting" && `your answer: ${choiceName(choiceOf(review, own.choice) ?? { id: own.choice, label: "" })}`,
    assignees.length > 0 && status === "waiting" && `for ${assignees.map((one) => one.name).join(", ")}`,
    status !== "waiting" && verdictWord(review),
  ].filter(Boolean);
  return (
    <div
      className={cn(
        "flex items-start gap-2 px-3 pointer-coarse:pl-4",
        isShown ? "bg-thread-soft" : "hover:bg-hover",
        isShown && !isChosen && "max-[1099px]:bg-transparent",
        pending && "opacity-60",
      )}
    >
      {onSelect && (
        <Checkbox
          label={<span className="sr-only">Select {name}</span>}
          checked={isSelected}
          onCheckedChange={onSelect}
          className="mt-2.5 max-sm:mt-3.5 max-sm:min-w-6"
        />
      )}
      <button
        type="button"
        data-row={review.id}
        aria-current={isShown || undefined}
        onClick={onShow}
        className="flex min-h-14 min-w-0 flex-1 flex-col justify-center gap-0.5 py-2 text-left"
      >
        <span className="flex w-full min-w-0 items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate font-semibold text-14">{name}</span>
          {pending ? (
            <span className="shrink-0 text-12 text-ink-soft">
              <Undo2 aria-hidden className="mr-1 inline size-3" />
              {pendingWord(pending)}
            </span>
          ) : (
            <span className={cn("shrink-0 text-12", due_at && status === "waiting" ? "text-waiting" : "text-ink-faint")}>
              {status !== "waiting" ? decided_at && <Time value={decided_at} /> : due_at ? <Time value={due_at} /> : "No deadline"}
            </span>
          )}
        </span>
        <span className="w-full truncate text-12 text-ink-soft">{[visibleName(workflow_name), ...facts].join(" · ")}</span>
      </button>
    </div>
  );
}

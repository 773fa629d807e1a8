"use client";

import { Check, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import type { LinkedReview } from "#server/features/reviews/schema.ts";
import { visibleName } from "#server/shared/visible-text.ts";
import { choiceName, isRejecting } from "#server/workflow/nodes/review-choices.ts";

export type Choice = LinkedReview["choices"][number];

/** The choice of a review with this id. */
export const choiceOf = ({ choices }: Pick<LinkedReview, "choices">, id: string | null): Choice | undefined =>
  choices.find((choice) => choice.id === id);

/** What a rejection means for the run. */
function endWords(choices: readonly Choice[]): string {
  const rejecting = choices.filter(isRejecting);
  const [only] = rejecting;
  if (rejecting.length === 1 && only?.id === "rejected")
    return only.ends_run ? "If you reject, the run ends as rejected." : "If you reject, the run goes on at Rejected.";
  const ending = rejecting.filter(({ ends_run }) => ends_run);
  return ending.length ? `${ending.map((choice) => `“${visibleName(choiceName(choice))}”`).join(" and ")} ends the run as rejected.` : "";
}

interface AnswersProps {
  choices: readonly Choice[];
  /** Id of the one that is being sent; true for any. */
  pending?: string | boolean | null;
  size?: "md" | "lg";
  /** Between the buttons and the remark. */
  children?: ReactNode;
}

/** The answers as buttons of their form: each submits its id. */
export function Answers({ choices, pending = null, size = "md", children }: AnswersProps) {
  const hint = useId();
  const words = endWords(choices);
  const isBusy = pending !== null && pending !== false;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {choices.map((choice) => (
        <Button
          key={choice.id}
          type="submit"
          value={choice.id}
          size={size}
          variant={choice.style === "primary" ? "primary" : "secondary"}
          {...(choice.style === "primary" && { icon: <Check /> })}
          {...(isRejecting(choice) && { icon: <X />, ...(words && { "aria-describedby": hint }) })}
          isPending={pending === choice.id}
          disabled={isBusy}
          className={cn("max-w-full max-sm:h-11 max-sm:min-w-32 max-sm:flex-1", size === "lg" && "h-11 min-w-32 flex-1")}
        >
          <span className="truncate">{visibleName(choiceName(choice))}</span>
        </Button>
      ))}
      {children}
      {words && (
        <p id={hint} className={cn("text-12 text-ink-soft max-sm:w-full", size === "lg" && "w-full")}>
          {words}
        </p>
      )}
    </div>
  );
}

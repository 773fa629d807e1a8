"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import type { MissingPart } from "#components/approvals/use-whole-review.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import type { Review } from "#server/features/reviews/schema.ts";

// Loaded with the first review that has a description: the renderer is heavy, and the editor shows reviews too.
const Markdown = dynamic(() => import("#components/ui/markdown.tsx").then((module) => module.Markdown));

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
      {description.trim() !== "" && <Markdown className="text-13 text-ink-soft">{description}</Markdown>}
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
              <ValueView value={display_value} what="content" format={missing && /^\s*[[{]/.test(display_value) ? "text" : "markdown"} />
            </div>
          </div>
          {hasLongContent && <div className="border-t px-3 py-1.5">{fold}</div>}
        </section>
      )}
      {missing && !missing.isLoading && missing.error !== null && <LoadFailure error={missing.error} onRetry={missing.load} />}
    </>
  );
}

"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { ValueView } from "#components/runs/value-view.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import type { Review } from "#server/schemas/review.ts";

// Loaded with the first review that has a description: the renderer is heavy, and the editor shows reviews too.
const Markdown = dynamic(() => import("#components/ui/markdown.tsx").then((module) => module.Markdown));

/** More than this is folded at first, so that the answer is not a page away. */
const FOLD_CHARACTERS = 1200;
const FOLD_LINES = 16;

const isLong = (text: string) => text.length > FOLD_CHARACTERS || text.split("\n", FOLD_LINES + 1).length > FOLD_LINES;

/** What a reviewer is shown: the description, and the content to decide about. */
export function ReviewContent({ review: { description, display_value } }: { review: Pick<Review, "description" | "display_value"> }) {
  const [isOpen, setIsOpen] = useState(false);
  const isFolded = isLong(display_value) && !isOpen;
  return (
    <>
      {description.trim() !== "" && <Markdown className="text-13 text-ink-soft">{description}</Markdown>}
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
              <ValueView value={display_value} what="content" format="markdown" />
            </div>
          </div>
          {isLong(display_value) && (
            <div className="border-t px-3 py-1.5">
              <Button size="sm" variant="ghost" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
                {isOpen ? "Show less" : "Show all"}
              </Button>
            </div>
          )}
        </section>
      )}
    </>
  );
}

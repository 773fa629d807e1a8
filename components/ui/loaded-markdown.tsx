"use client";

import { cn } from "#components/ui/cn.ts";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

/**
 * Markdown whose renderer comes when the first of it is drawn. Until then it stands there as it was written: nobody answers an empty
 * review, and what is pressed below a plain text does not move.
 */
export const Markdown = loadedOnUse(
  () => import("#components/ui/markdown.tsx").then((module) => module.Markdown),
  ({ className, children }) => (
    <div className={cn("prose whitespace-pre-wrap", className)}>
      <p>{children}</p>
    </div>
  ),
);

import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";

export interface EmptyStateProps {
  title: string;
  /** What this is for, in one or two sentences. */
  children: ReactNode;
  /** The one primary button, and links beside it. */
  actions?: ReactNode;
  /** "page" fills a page's column on woven ground; "panel" fits into a card. */
  size?: "page" | "panel";
  className?: string;
}

export function EmptyState({ title, children, actions, size = "page", className }: EmptyStateProps) {
  return (
    <div
      className={cn(
        "relative flex flex-col items-start gap-3 overflow-hidden rounded-lg border border-line-strong border-dashed",
        size === "page" ? "woven woven-fade px-8 py-12 max-sm:px-5 max-sm:py-8" : "p-5",
        className,
      )}
    >
      <h2 className={cn("font-semibold text-ink", size === "page" ? "text-16" : "text-14")}>{title}</h2>
      <div className="w-full max-w-120 text-14 text-ink-soft">{children}</div>
      {actions && <div className="mt-1 flex flex-wrap items-center gap-3">{actions}</div>}
    </div>
  );
}

import { cn } from "#components/ui/cn.ts";

/** A hairline between groups, for the eye only. */
export function Separator({ orientation = "horizontal", className }: { orientation?: "horizontal" | "vertical"; className?: string }) {
  return <div aria-hidden className={cn("shrink-0 bg-line", orientation === "horizontal" ? "h-px w-full" : "h-full w-px", className)} />;
}

import type { ComponentProps } from "react";
import { cn } from "#components/ui/cn.ts";

export function Kbd({ className, ...rest }: ComponentProps<"kbd">) {
  return (
    <kbd
      {...rest}
      className={cn(
        "inline-flex h-4 min-w-4 items-center justify-center rounded-sm border border-line-strong bg-raised px-1 font-sans text-12 text-ink-soft",
        className,
      )}
    />
  );
}

export const MOD = typeof navigator !== "undefined" && /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘" : "Ctrl";

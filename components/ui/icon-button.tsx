"use client";

import type { ComponentProps, ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { Spinner } from "#components/ui/spinner.tsx";
import { Tooltip, type TooltipProps } from "#components/ui/tooltip.tsx";

export interface IconButtonProps extends Omit<ComponentProps<"button">, "children" | "aria-label"> {
  /** Accessible name and tooltip. */
  label: string;
  icon: ReactNode;
  shortcut?: string[];
  side?: TooltipProps["side"];
  size?: "sm" | "md" | "lg";
  isPending?: boolean;
  /** For a toggle: whether it is on. */
  isPressed?: boolean;
  hasTooltip?: boolean;
}

const SIZES = { sm: "size-6", md: "size-7", lg: "size-8" } as const;

/** A square button with an icon alone; at least 24 px, so that a shaky pointer hits it, and 44 px for a thumb. */
export function IconButton({
  label,
  icon,
  shortcut,
  side,
  size = "md",
  isPending,
  isPressed,
  hasTooltip = true,
  className,
  disabled,
  ...rest
}: IconButtonProps) {
  const button = (
    <button
      type="button"
      {...rest}
      aria-label={label}
      aria-pressed={isPressed}
      aria-busy={isPending || undefined}
      disabled={disabled || isPending}
      className={cn(
        "inline-flex shrink-0 items-center justify-center rounded-md text-ink-soft transition-colors pointer-coarse:min-h-11 pointer-coarse:min-w-11 hover:bg-hover hover:text-ink data-[state=open]:bg-hover data-[state=open]:text-ink",
        "aria-pressed:bg-thread-soft aria-pressed:text-thread-text disabled:cursor-not-allowed disabled:opacity-45 disabled:hover:bg-transparent [&_svg]:size-3.5",
        SIZES[size],
        className,
      )}
    >
      {isPending ? <Spinner /> : icon}
    </button>
  );
  if (!hasTooltip) return button;
  return (
    <Tooltip content={label} {...(shortcut && { shortcut })} {...(side && { side })}>
      {button}
    </Tooltip>
  );
}

"use client";

import { Slot } from "radix-ui";
import { type ComponentProps, type ReactNode, useSyncExternalStore } from "react";
import { cn } from "#components/ui/cn.ts";
import { Spinner } from "#components/ui/spinner.tsx";

const VARIANTS = {
  primary: "border-transparent bg-thread text-on-thread hover:bg-thread-strong",
  secondary: "border-line-strong bg-raised text-ink shadow-sm hover:border-line-control hover:bg-surface",
  ghost: "border-transparent text-ink-soft hover:bg-hover hover:text-ink",
  danger: "border-transparent bg-failed text-paper hover:bg-failed-strong",
} as const;

const SIZES = {
  sm: "h-7 gap-1.5 rounded-md px-2.5 text-14",
  md: "h-8 gap-1.5 rounded-md px-3 text-14",
  lg: "h-10 gap-2 rounded-lg px-4 text-14",
} as const;

export interface ButtonProps extends ComponentProps<"button"> {
  variant?: keyof typeof VARIANTS;
  size?: keyof typeof SIZES;
  /** Shows a spinner in place of the icon and takes no clicks; the label stays, so the width does too. */
  isPending?: boolean;
  icon?: ReactNode;
  /** Draws the single child (a link) as the button. */
  asChild?: boolean;
}

export function Button({
  variant = "secondary",
  size = "md",
  isPending = false,
  icon,
  asChild = false,
  className,
  children,
  disabled,
  type,
  ...rest
}: ButtonProps) {
  // Sent before React has taken the form over, the browser would put what was typed into the address.
  const isTooEarly = !useHydrated() && type === "submit";
  const Root = asChild ? Slot.Root : "button";
  return (
    <Root
      {...rest}
      {...(!asChild && { type: type ?? "button", disabled: disabled || isPending || isTooEarly })}
      aria-busy={isPending || undefined}
      className={cn(
        "relative inline-flex shrink-0 select-none items-center justify-center whitespace-nowrap border font-semibold transition-[background-color,border-color,color,opacity]",
        "disabled:cursor-not-allowed disabled:opacity-55 aria-busy:opacity-80 pointer-coarse:min-h-11 pointer-coarse:min-w-11",
        VARIANTS[variant],
        SIZES[size],
        isTooEarly && "disabled:opacity-100",
        className,
      )}
    >
      {isPending ? <Spinner /> : icon && <span className="inline-flex size-3.5 shrink-0 [&>svg]:size-full">{icon}</span>}
      <Slot.Slottable>{children}</Slot.Slottable>
    </Root>
  );
}

const never = () => () => {};

/** False in the server's HTML and until React has taken it over; from then on true. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

"use client";

import { Popover as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { stayWhereFocusIs } from "#components/ui/focus.ts";
import { surfaceStyle } from "#components/ui/styles.ts";

export interface PopoverProps {
  /** The button that opens it. */
  trigger: ReactNode;
  /** Accessible name of the surface. */
  label: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  /** Called when it has closed. Unless prevented, the focus goes back to the button, if nothing else has it by then. */
  onCloseAutoFocus?: (event: Event) => void;
  className?: string;
  children: ReactNode;
}

/** A surface beside its button that may hold any content; Esc and a click outside close it. */
export function Popover({
  trigger,
  label,
  open,
  onOpenChange,
  align = "end",
  side = "bottom",
  onCloseAutoFocus,
  className,
  children,
}: PopoverProps) {
  return (
    <Radix.Root {...(open !== undefined && { open })} {...(onOpenChange && { onOpenChange })}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            stayWhereFocusIs(event);
            onCloseAutoFocus?.(event);
          }}
          className={cn(surfaceStyle, "w-72 p-3", className)}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

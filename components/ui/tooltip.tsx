"use client";

import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "#components/ui/kbd.tsx";

export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={450} skipDelayDuration={250} disableHoverableContent>
      {children}
    </Radix.Provider>
  );
}

export interface TooltipProps {
  content: ReactNode;
  /** Keys of the shortcut, e.g. ["⌘", "Z"]. */
  shortcut?: string[];
  side?: "top" | "right" | "bottom" | "left";
  children: ReactNode;
}

/** A hint on hover and focus. It repeats or adds to the control's name, it never replaces it. */
export function Tooltip({ content, shortcut, side = "top", children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger
        asChild
        onFocus={(event) => {
          // The focus that a closed dialog gives back to its button asks for no hint: only one that the keyboard brings does.
          if (!event.currentTarget.matches(":focus-visible")) event.preventDefault();
        }}
      >
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-60 flex max-w-72 animate-appear items-center gap-2 rounded-md bg-ink px-2 py-1 text-12 text-paper shadow-md"
        >
          {content}
          {shortcut && (
            <span className="flex gap-0.5">
              {shortcut.map((key) => (
                <Kbd key={key} className="border-transparent bg-paper/20 text-paper">
                  {key}
                </Kbd>
              ))}
            </span>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

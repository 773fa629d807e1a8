"use client";

import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";

export interface TabsProps<Value extends string> {
  label: string;
  value: Value;
  onValueChange: (value: Value) => void;
  tabs: readonly { value: Value; label: ReactNode; content: ReactNode }[];
  /** Right of the tabs. */
  actions?: ReactNode;
  className?: string;
  panelClassName?: string;
}

/** Tabs whose hidden panels stay mounted, so that nothing in them reloads or loses its place. */
export function Tabs<Value extends string>({ label, value, onValueChange, tabs, actions, className, panelClassName }: TabsProps<Value>) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onValueChange(next as Value)} className={cn("flex min-h-0 flex-col", className)}>
      <div className="flex shrink-0 items-center justify-between gap-2 border-b px-2">
        <Radix.List aria-label={label} className="flex">
          {tabs.map((tab) => (
            <Radix.Trigger
              key={tab.value}
              value={tab.value}
              className="relative h-9 px-2 font-semibold text-14 text-ink-soft transition-colors pointer-coarse:h-11 pointer-coarse:min-w-11 after:absolute after:inset-x-2 after:-bottom-px after:h-0.5 after:rounded-full hover:text-ink focus-visible:outline-offset-[-2px] data-[state=active]:text-ink data-[state=active]:after:bg-thread"
            >
              {tab.label}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {actions}
      </div>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.value}
          value={tab.value}
          forceMount
          className={cn("min-h-0 flex-1 data-[state=inactive]:hidden", panelClassName)}
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

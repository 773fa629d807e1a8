"use client";

import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

export const NODE_TABS = ["settings", "run", "relations"] as const;
export type NodeTab = (typeof NODE_TABS)[number];

const TITLES: Record<NodeTab, string> = { settings: "Settings", run: "Last run", relations: "Relations" };

export interface NodeTabsProps {
  value: NodeTab;
  onValueChange: (tab: NodeTab) => void;
  settings: ReactNode;
  run: ReactNode;
  relations: ReactNode;
}

/** The three sides of a node. Its settings stay as they were left; the others are drawn when they are looked at. */
export function NodeTabs({ value, onValueChange, ...panels }: NodeTabsProps) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onValueChange(next as NodeTab)} className="flex flex-col gap-4">
      <Radix.List aria-label="Node" className="flex rounded-md border bg-sunken p-0.5">
        {NODE_TABS.map((tab) => (
          <Radix.Trigger
            key={tab}
            value={tab}
            className="h-6 flex-1 whitespace-nowrap rounded-sm px-2 font-medium text-12 text-ink-soft hover:text-ink data-[state=active]:bg-raised data-[state=active]:text-ink data-[state=active]:shadow-sm pointer-coarse:h-9"
          >
            {TITLES[tab]}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {NODE_TABS.map((tab) => (
        <Radix.Content
          key={tab}
          value={tab}
          {...(tab === "settings" && { forceMount: true as const })}
          tabIndex={-1}
          className="data-[state=inactive]:hidden"
        >
          {panels[tab]}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

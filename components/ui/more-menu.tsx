"use client";

import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu } from "#components/ui/menu.tsx";

/** What can be done with all of a page and is done seldom: after the buttons of its header. */
export function MoreMenu({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <IconButton label="More" size="lg" icon={<Ellipsis />} hasTooltip={false} className={cn("pointer-coarse:size-9", className)} />
      }
    >
      {children}
    </Menu>
  );
}

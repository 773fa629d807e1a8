"use client";

import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu } from "#components/ui/menu.tsx";
import { Spinner } from "#components/ui/spinner.tsx";

export interface RowMenuProps {
  /** What the row is called. */
  of: string;
  /** While something that was chosen goes on. The button keeps the focus, and so can be pressed. */
  isPending?: boolean;
  size?: "sm" | "md";
  className?: string;
  children: ReactNode;
}

/** What can be done with one thing of a list, at the end of its row or in the corner of its card; above a link that is spread over all of it. */
export function RowMenu({ of, isPending = false, size = "md", className, children }: RowMenuProps) {
  return (
    <Menu
      trigger={
        <IconButton
          label={`Actions of ${of}`}
          icon={isPending ? <Spinner /> : <Ellipsis />}
          aria-busy={isPending || undefined}
          size={size}
          hasTooltip={false}
          // Wide enough for a thumb, in a row that is no higher for it.
          className={cn("relative z-1 pointer-coarse:-my-2 pointer-coarse:size-11", className)}
        />
      }
    >
      {children}
    </Menu>
  );
}

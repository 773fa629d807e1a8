"use client";

import { ContextMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { Kbd } from "#components/ui/kbd.tsx";
import type { MenuItemProps } from "#components/ui/menu.tsx";
import { itemStyle, surfaceStyle } from "#components/ui/menu-style.ts";

/** The actions of `target` on a right click, a long press or the menu key. */
export function ContextMenu({ target, children }: { target: ReactNode; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{target}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content collisionPadding={8} className={cn(surfaceStyle, "min-w-44 max-w-80 p-1")}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function ContextMenuItem({ icon, shortcut, tone = "normal", disabled = false, onSelect, children }: Omit<MenuItemProps, "asChild">) {
  return (
    <Radix.Item
      disabled={disabled}
      className={cn(itemStyle, tone === "danger" && "text-failed [&>svg]:text-failed")}
      {...(onSelect && { onSelect: () => onSelect() })}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {shortcut?.map((key) => (
        <Kbd key={key}>{key}</Kbd>
      ))}
    </Radix.Item>
  );
}

export const ContextMenuSeparator = () => <Radix.Separator className="-mx-1 my-1 h-px bg-line" />;

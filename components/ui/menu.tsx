"use client";

import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { Kbd } from "#components/ui/kbd.tsx";
import { itemStyle, surfaceStyle } from "#components/ui/styles.ts";

export interface MenuProps {
  /** The button that opens it. */
  trigger: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  className?: string;
  /** Accessible name, for a menu whose trigger has none. */
  label?: string;
  /** Given when something else than the trigger opens it. */
  isOpen?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  onCloseAutoFocus?: (event: Event) => void;
  children: ReactNode;
}

/** A menu of actions behind a button. */
export function Menu({
  trigger,
  align = "end",
  side = "bottom",
  className,
  label,
  isOpen,
  onOpenChange,
  onCloseAutoFocus,
  children,
}: MenuProps) {
  return (
    // A context menu leaves the page readable: hiding it from assistive technology would hide what still takes the focus.
    <Radix.Root {...(isOpen !== undefined && { open: isOpen, modal: false })} {...(onOpenChange && { onOpenChange })}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          {...(label !== undefined && { "aria-label": label, "aria-labelledby": undefined })}
          {...(onCloseAutoFocus && { onCloseAutoFocus })}
          className={cn(surfaceStyle, "min-w-44 max-w-80 p-1", className)}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export interface MenuItemProps {
  icon?: ReactNode;
  shortcut?: string[];
  tone?: "normal" | "danger";
  disabled?: boolean;
  onSelect?: () => void;
  /** Draws the single child (a link) as the item. */
  asChild?: boolean;
  children: ReactNode;
}

export function MenuItem({ icon, shortcut, tone = "normal", disabled = false, onSelect, asChild = false, children }: MenuItemProps) {
  const className = cn(itemStyle, tone === "danger" && "text-failed [&>svg]:text-failed");
  if (asChild)
    return (
      <Radix.Item asChild disabled={disabled} className={className}>
        {children}
      </Radix.Item>
    );
  return (
    <Radix.Item disabled={disabled} className={className} {...(onSelect && { onSelect: () => onSelect() })}>
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {shortcut && (
        <span className="flex gap-0.5">
          {shortcut.map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}
        </span>
      )}
    </Radix.Item>
  );
}

export interface MenuChoiceProps<Value extends string> {
  label?: string;
  value: Value;
  onValueChange: (value: Value) => void;
  options: readonly { value: Value; label: ReactNode; icon?: ReactNode }[];
}

/** One of several, with a tick at the current one. */
export function MenuChoice<Value extends string>({ label, value, onValueChange, options }: MenuChoiceProps<Value>) {
  return (
    <Radix.RadioGroup
      value={value}
      onValueChange={(next) => onValueChange(next as Value)}
      {...(label !== undefined && { "aria-label": label })}
    >
      {options.map((option) => (
        <Radix.RadioItem key={option.value} value={option.value} className={cn(itemStyle, "pr-8")}>
          {option.icon}
          <span className="min-w-0 flex-1 truncate">{option.label}</span>
          <Radix.ItemIndicator className="absolute right-2">
            <Check aria-hidden className="size-3.5 text-thread-text" />
          </Radix.ItemIndicator>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 pt-1.5 pb-1 text-11 text-ink-faint">{children}</Radix.Label>
);

export const MenuSeparator = () => <Radix.Separator className="-mx-1 my-1 h-px bg-line" />;

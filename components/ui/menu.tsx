"use client";

import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import { createContext, type ReactNode, useContext, useRef } from "react";
import { cn } from "#components/ui/cn.ts";
import { stayWhereFocusIs } from "#components/ui/focus.ts";
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
  /** Puts the focus elsewhere than on the trigger. Prevented already where something else has taken it. */
  onCloseAutoFocus?: (event: Event) => void;
  children: ReactNode;
}

const atOnce = (act: () => void) => act();

/** How a menu does what an item of it stands for: at once, or when it is closed. */
const Choose = createContext(atOnce);

/**
 * A menu of actions behind a button. What is chosen begins when the menu is gone and the focus is back where it was: a dialog that
 * it opens takes the focus from there, and gives it back to it. (While a menu closes, it and a dialog would both hold the focus.)
 * Of a menu that something else opens it begins at once, and `onCloseAutoFocus` sees what came of it.
 */
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
  const chosen = useRef<(() => void) | null>(null);
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
          onCloseAutoFocus={(event) => {
            stayWhereFocusIs(event);
            onCloseAutoFocus?.(event);
            const { current } = chosen;
            chosen.current = null;
            if (current) queueMicrotask(current);
          }}
          className={cn(surfaceStyle, "min-w-44 max-w-80 p-1", className)}
        >
          <Choose value={isOpen === undefined ? (act) => (chosen.current = act) : atOnce}>{children}</Choose>
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
  const choose = useContext(Choose);
  const className = cn(itemStyle, tone === "danger" && "text-failed [&>svg]:text-failed");
  if (asChild)
    return (
      <Radix.Item asChild disabled={disabled} className={className}>
        {children}
      </Radix.Item>
    );
  return (
    <Radix.Item disabled={disabled} className={className} {...(onSelect && { onSelect: () => choose(onSelect) })}>
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
  <Radix.Label className="px-2 pt-1.5 pb-1 text-12 text-ink-faint">{children}</Radix.Label>
);

export const MenuSeparator = () => <Radix.Separator className="-mx-1 my-1 h-px bg-line" />;

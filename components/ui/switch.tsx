"use client";

import { Switch as Radix } from "radix-ui";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";

export interface SwitchProps {
  /** Accessible name; inside a Field its label serves. */
  label?: string;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
  className?: string;
}

export function Switch({ label, checked, onCheckedChange, disabled = false, className }: SwitchProps) {
  const field = useFieldControl();
  return (
    <Radix.Root
      {...field}
      {...(label !== undefined && { "aria-label": label })}
      checked={checked}
      onCheckedChange={onCheckedChange}
      disabled={disabled}
      className={cn(
        "relative inline-flex h-4.5 w-7.5 shrink-0 items-center rounded-full border border-line-control bg-sunken transition-colors before:absolute before:-inset-x-1 before:-inset-y-1.5 pointer-coarse:before:-inset-x-2 pointer-coarse:before:-inset-y-3.5 disabled:cursor-not-allowed disabled:opacity-55 data-[state=checked]:border-thread data-[state=checked]:bg-thread",
        className,
      )}
    >
      <Radix.Thumb className="block size-3 translate-x-0.75 rounded-full bg-ink-soft transition-transform data-[state=checked]:translate-x-3.5 data-[state=checked]:bg-on-thread" />
    </Radix.Root>
  );
}

"use client";

import { Check } from "lucide-react";
import { Checkbox as Radix } from "radix-ui";
import { type ReactNode, useId } from "react";
import { cn } from "#components/ui/cn.ts";

export interface CheckboxProps {
  label: ReactNode;
  hint?: ReactNode;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
  className?: string;
}

/** A box with its label; the label is part of the target. */
export function Checkbox({ label, hint, checked, onCheckedChange, disabled = false, className }: CheckboxProps) {
  const id = useId();
  return (
    <div className={cn("flex gap-2", className)}>
      <Radix.Root
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={(value) => onCheckedChange(value === true)}
        {...(hint ? { "aria-describedby": `${id}hint` } : {})}
        className="relative mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-control bg-raised text-on-thread before:absolute before:-inset-1 pointer-coarse:before:-inset-3.75 data-[state=checked]:border-thread data-[state=checked]:bg-thread disabled:opacity-50"
      >
        <Radix.Indicator>
          <Check aria-hidden className="size-3" strokeWidth={3} />
        </Radix.Indicator>
      </Radix.Root>
      <div className="min-w-0">
        <label htmlFor={id} className="text-14 text-ink">
          {label}
        </label>
        {hint && (
          <p id={`${id}hint`} className="text-12 text-ink-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

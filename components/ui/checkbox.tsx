"use client";

import { Check } from "lucide-react";
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
      <span className="relative mt-0.5 flex size-4 shrink-0 items-center justify-center text-on-thread">
        <input
          type="checkbox"
          id={id}
          checked={checked}
          disabled={disabled}
          onChange={(event) => onCheckedChange(event.target.checked)}
          aria-describedby={hint ? `${id}hint` : undefined}
          className="peer absolute inset-0 appearance-none rounded-sm border border-line-control bg-raised before:absolute before:-inset-1.25 checked:border-thread checked:bg-thread disabled:opacity-50 pointer-coarse:before:-inset-4 forced-colors:appearance-auto"
        />
        <Check
          aria-hidden
          className="pointer-events-none relative hidden size-3 peer-checked:block forced-colors:!hidden"
          strokeWidth={3}
        />
      </span>
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

"use client";

import { useId } from "react";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";

export interface ToggleRowProps {
  /** Name of the group; left out inside a Field, whose label serves. */
  label?: string;
  /** `name` is read out where the label is an abbreviation. */
  options: readonly { value: string; label: string; name?: string }[];
  value: readonly string[];
  isReadOnly: boolean;
  /** The chosen values in the order of the options. */
  onChange: (value: string[]) => void;
  className?: string;
}

/** Several of a few choices, as buttons that stay pressed. */
export function ToggleRow({ label, options, value, isReadOnly, onChange, className }: ToggleRowProps) {
  const id = useId();
  const field = useFieldControl();
  const toggle = (one: string) => {
    const next = new Set(value);
    if (!next.delete(one)) next.add(one);
    onChange(options.flatMap((option) => (next.has(option.value) ? [option.value] : [])));
  };
  return (
    <div className="flex flex-col gap-1.5">
      {label !== undefined && (
        <span id={id} className="font-semibold text-12 text-ink">
          {label}
        </span>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row in every browser */}
      <div
        role="group"
        {...(label === undefined
          ? { id: field.id, "aria-labelledby": field["aria-labelledby"], "aria-describedby": field["aria-describedby"] }
          : { "aria-labelledby": id })}
        className="flex flex-wrap gap-1"
      >
        {options.map((option) => (
          <button
            key={option.value}
            type="button"
            aria-pressed={value.includes(option.value)}
            disabled={isReadOnly}
            {...(option.name !== undefined && { "aria-label": option.name })}
            className={cn(
              "h-7 min-w-8 rounded-md border border-line-control px-2 font-semibold text-12 text-ink-soft hover:text-ink pointer-coarse:h-11 pointer-coarse:min-w-11",
              "aria-pressed:border-thread aria-pressed:bg-thread-soft aria-pressed:text-thread-text disabled:cursor-not-allowed",
              className,
            )}
            onClick={() => toggle(option.value)}
          >
            {option.label}
          </button>
        ))}
      </div>
    </div>
  );
}

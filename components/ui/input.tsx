"use client";

import { Search } from "lucide-react";
import { type ChangeEvent, type ComponentProps, type RefObject, useEffect, useRef } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { controlStyle } from "#components/ui/styles.ts";

export function Input({ className, type = "text", ...rest }: Omit<ComponentProps<"input">, "ref">) {
  const ref = useTextBeforeHydration(rest.value, rest.onChange);
  return (
    <input
      ref={ref}
      type={type}
      {...useFieldControl()}
      {...rest}
      className={cn(controlStyle, "h-8 px-2.5 read-only:bg-sunken pointer-coarse:h-11", className)}
    />
  );
}

/** Grows with its text between `rows` and 24 lines. */
export function Textarea({ className, rows = 3, style, ...rest }: Omit<ComponentProps<"textarea">, "ref">) {
  const ref = useTextBeforeHydration(rest.value, rest.onChange);
  return (
    <textarea
      ref={ref}
      rows={rows}
      {...useFieldControl()}
      {...rest}
      // A field that fits its content ignores `rows`: a line is 20 px, padding and border are 14.
      style={{ minHeight: rows * 20 + 14, ...style }}
      className={cn(controlStyle, "field-sizing-content max-h-120 resize-y px-2.5 py-1.5 read-only:bg-sunken", className)}
    />
  );
}

/**
 * Text that was typed, or filled in by a password manager, before React took the page over stands in the field but was
 * never told to `onChange`. This tells it, once. Give the returned ref to the field.
 */
export function useTextBeforeHydration<Field extends HTMLInputElement | HTMLTextAreaElement>(
  value: unknown,
  onChange: ((event: ChangeEvent<Field>) => void) | undefined,
): RefObject<Field | null> {
  const field = useRef<Field>(null);
  const isTold = useRef(false);
  useEffect(() => {
    const node = field.current;
    if (isTold.current || !node) return;
    isTold.current = true;
    if (typeof value === "string" && node.value !== value) onChange?.({ target: node, currentTarget: node } as ChangeEvent<Field>);
  }, [value, onChange]);
  return field;
}

export interface SearchFieldProps {
  /** Accessible name and placeholder, e.g. "Search workflows". */
  label: string;
  value: string;
  onValueChange: (value: string) => void;
  className?: string;
}

export function SearchField({ label, value, onValueChange, className }: SearchFieldProps) {
  return (
    <div className={cn("relative", className)}>
      <Search aria-hidden className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-ink-faint" />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && !isComposing(event) && onValueChange("")}
        className="pl-8"
      />
    </div>
  );
}

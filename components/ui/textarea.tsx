"use client";

import type { ComponentProps } from "react";
import { cn } from "#components/ui/cn.ts";
import { controlStyle } from "#components/ui/control-style.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { useEarlyText } from "#components/ui/use-early-text.ts";

/** Grows with its text between `rows` and 24 lines. */
export function Textarea({ className, rows = 3, style, ...rest }: Omit<ComponentProps<"textarea">, "ref">) {
  const ref = useEarlyText(rest.value, rest.onChange);
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

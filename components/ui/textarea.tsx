"use client";

import type { ComponentProps } from "react";
import { cn } from "#components/ui/cn.ts";
import { controlStyle } from "#components/ui/control-style.ts";
import { useFieldControl } from "#components/ui/field.tsx";

/** Grows with its text between `rows` and 24 lines. */
export function Textarea({ className, rows = 3, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea
      rows={rows}
      {...useFieldControl()}
      {...rest}
      className={cn(controlStyle, "field-sizing-content max-h-120 resize-y px-2.5 py-1.5", className)}
    />
  );
}

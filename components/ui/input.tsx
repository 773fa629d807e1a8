"use client";

import type { ComponentProps } from "react";
import { cn } from "#components/ui/cn.ts";
import { controlStyle } from "#components/ui/control-style.ts";
import { useFieldControl } from "#components/ui/field.tsx";

export function Input({ className, type = "text", ...rest }: ComponentProps<"input">) {
  return <input type={type} {...useFieldControl()} {...rest} className={cn(controlStyle, "h-8 px-2.5 pointer-coarse:h-10", className)} />;
}

"use client";

import type { ComponentProps } from "react";
import { cn } from "#components/ui/cn.ts";
import { controlStyle } from "#components/ui/control-style.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { useEarlyText } from "#components/ui/use-early-text.ts";

export function Input({ className, type = "text", ...rest }: Omit<ComponentProps<"input">, "ref">) {
  const ref = useEarlyText(rest.value, rest.onChange);
  return (
    <input
      ref={ref}
      type={type}
      {...useFieldControl()}
      {...rest}
      className={cn(controlStyle, "h-8 px-2.5 read-only:bg-sunken pointer-coarse:h-10", className)}
    />
  );
}

"use client";

import { Check, ChevronDown } from "lucide-react";
import { Select as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { stayWhereFocusIs } from "#components/ui/focus.ts";
import { controlStyle, itemStyle, surfaceStyle } from "#components/ui/styles.ts";

export interface SelectOption<Value extends string> {
  value: Value;
  label: ReactNode;
  /** Shown of the chosen one in place of the label, where there is no room for words. */
  sign?: string;
  description?: ReactNode;
  isDisabled?: boolean;
}

export interface SelectProps<Value extends string> {
  value: Value | "";
  onValueChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  placeholder?: string;
  disabled?: boolean;
  /** Accessible name where no Field gives one. */
  "aria-label"?: string;
  size?: "sm" | "md";
  className?: string;
}

export function Select<Value extends string>({
  value,
  onValueChange,
  options,
  placeholder = "Choose…",
  disabled = false,
  size = "md",
  className,
  ...rest
}: SelectProps<Value>) {
  const field = useFieldControl();
  const current = options.find((option) => option.value === value);
  return (
    <Radix.Root value={value} onValueChange={(next) => onValueChange(next as Value)} disabled={disabled}>
      <Radix.Trigger
        {...field}
        {...rest}
        className={cn(
          controlStyle,
          "flex items-center justify-between gap-2 pr-2 pl-2.5 text-left data-placeholder:text-ink-faint pointer-coarse:h-11",
          size === "sm" ? "h-7" : "h-8",
          className,
        )}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder}>
            {current?.sign === undefined ? (
              current?.label
            ) : (
              <>
                <span aria-hidden>{current.sign}</span>
                <span className="sr-only">{current.label}</span>
              </>
            )}
          </Radix.Value>
        </span>
        <Radix.Icon asChild>
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        </Radix.Icon>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={stayWhereFocusIs}
          className={cn(surfaceStyle, "max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) max-w-96")}
        >
          <Radix.Viewport className="p-1">
            {options.map((option) => (
              <Radix.Item key={option.value} value={option.value} disabled={option.isDisabled ?? false} className={cn(itemStyle, "pr-8")}>
                <span className="flex min-w-0 flex-col py-1">
                  <Radix.ItemText>{option.label}</Radix.ItemText>
                  {option.description && <span className="text-12 text-ink-faint">{option.description}</span>}
                </span>
                <Radix.ItemIndicator className="absolute right-2">
                  <Check aria-hidden className="size-3.5 text-thread-text" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

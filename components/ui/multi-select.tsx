"use client";

import { Check, ChevronDown } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { stayWhereFocusIs } from "#components/ui/focus.ts";
import { itemStyle, menuFieldStyle, surfaceStyle } from "#components/ui/styles.ts";

export interface MultiSelectProps<Value extends string> {
  /** Accessible name; what is chosen follows it. */
  label: string;
  /** Shown while nothing is chosen. */
  none: string;
  values: readonly Value[];
  onValuesChange: (values: Value[]) => void;
  options: readonly { value: Value; label: string; icon?: ReactNode }[];
  className?: string;
}

/** Some of a few, as a menu that stays open while one ticks. */
export function MultiSelect<Value extends string>({ label, none, values, onValuesChange, options, className }: MultiSelectProps<Value>) {
  const chosen = options.filter(({ value }) => values.includes(value)).map((option) => option.label);
  const shown = chosen.length === 0 ? none : chosen.length > 2 ? `${chosen.length} chosen` : chosen.join(", ");
  return (
    <Radix.Root>
      <Radix.Trigger aria-label={`${label}: ${chosen.length ? chosen.join(", ") : none}`} className={cn(menuFieldStyle, className)}>
        <span className="truncate">{shown}</span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={stayWhereFocusIs}
          className={cn(surfaceStyle, "max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto p-1")}
        >
          {options.map(({ value, label: name, icon }) => (
            <Radix.CheckboxItem
              key={value}
              checked={values.includes(value)}
              onSelect={(event) => event.preventDefault()}
              onCheckedChange={(isOn) => onValuesChange(isOn ? [...values, value] : values.filter((other) => other !== value))}
              className={cn(itemStyle, "pr-8")}
            >
              {icon}
              <span className="min-w-0 flex-1 truncate">{name}</span>
              <Radix.ItemIndicator className="absolute right-2">
                <Check aria-hidden className="size-3.5 text-thread-text" />
              </Radix.ItemIndicator>
            </Radix.CheckboxItem>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

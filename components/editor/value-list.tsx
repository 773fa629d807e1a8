"use client";

import { Hash } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { NodeIcon } from "#components/nodes/node-icon.tsx";
import { cn } from "#components/ui/cn.ts";
import { itemStyle, surfaceStyle } from "#components/ui/menu-style.ts";

export interface ValueOption {
  /** What is put into the text. */
  code: string;
  nodeType: string;
  hint: string | null;
}

export interface ValueListProps {
  id: string;
  options: readonly ValueOption[];
  active: number;
  onActive: (index: number) => void;
  onTake: (option: ValueOption) => void;
  /** True for what belongs to the text field, a click on which does not close the list. */
  isField: (target: EventTarget | null) => boolean;
}

/** The values that a text can hold, under the text field; the field keeps the focus and handles the keys. */
export function ValueList({ id, options, active, onActive, onTake, isField }: ValueListProps) {
  return (
    <Radix.Portal>
      <Radix.Content
        align="start"
        sideOffset={4}
        collisionPadding={8}
        aria-label="Values"
        onOpenAutoFocus={(event) => event.preventDefault()}
        onCloseAutoFocus={(event) => event.preventDefault()}
        onInteractOutside={(event) => isField(event.target) && event.preventDefault()}
        className={cn(surfaceStyle, "max-h-64 w-(--radix-popover-trigger-width) min-w-64 overflow-y-auto p-1")}
      >
        <div id={id} role="listbox" aria-label="Values">
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
            // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field
            <div
              key={option.code}
              id={`${id}${index}`}
              role="option"
              aria-selected={index === active}
              onClick={() => onTake(option)}
              onPointerMove={() => index !== active && onActive(index)}
              className={cn(itemStyle, "cursor-pointer py-1", index === active && "bg-hover")}
            >
              {option.nodeType ? <NodeIcon type={option.nodeType} className="size-5" /> : <Hash aria-hidden className="size-5! p-1" />}
              <span className="flex min-w-0 flex-col">
                <span className="truncate font-mono text-12">{option.code}</span>
                {option.hint !== null && <span className="truncate text-11 text-ink-soft">{option.hint.slice(0, 80)}</span>}
              </span>
            </div>
          ))}
        </div>
      </Radix.Content>
    </Radix.Portal>
  );
}

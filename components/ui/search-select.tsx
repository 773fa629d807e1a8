"use client";

import { ChevronDown } from "lucide-react";
import { type ReactNode, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { SearchList, type SearchOption } from "#components/ui/search-list.tsx";
import { menuFieldStyle } from "#components/ui/styles.ts";

export interface SearchSelectProps {
  /** What stands in it: the name of the chosen one, or what to do. */
  shown: ReactNode;
  isEmpty?: boolean;
  /** Accessible name of the search field, such as "Search workflows". */
  searchLabel: string;
  /** What the text finds. Whoever gives them searches. */
  options: readonly SearchOption[];
  text: string;
  onTextChange: (text: string) => void;
  isStale: boolean;
  empty: ReactNode;
  footer?: ReactNode;
  onPick: (id: string) => void;
  onOpenChange?: (isOpen: boolean) => void;
  disabled?: boolean;
  /** Accessible name where no Field gives one. */
  "aria-label"?: string;
  className?: string;
}

/** A choice from a list that is too long to be shown: it is searched while one types. */
export function SearchSelect(props: SearchSelectProps) {
  const { shown, isEmpty = false, searchLabel, onPick, onOpenChange, onTextChange, disabled = false, className } = props;
  const field = useFieldControl();
  const [isOpen, setIsOpen] = useState(false);
  const open = (next: boolean) => {
    setIsOpen(next);
    onOpenChange?.(next);
    if (!next) onTextChange("");
  };
  return (
    <Popover
      label={searchLabel}
      open={isOpen}
      onOpenChange={open}
      align="start"
      className="flex max-h-[min(22rem,var(--radix-popover-content-available-height))] w-(--radix-popover-trigger-width) min-w-72 flex-col p-0"
      trigger={
        <button
          type="button"
          role="combobox"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          {...field}
          {...(props["aria-label"] !== undefined && { "aria-label": props["aria-label"] })}
          disabled={disabled}
          className={cn(menuFieldStyle, isEmpty && "text-ink-faint", className)}
        >
          <span className="truncate">{shown}</span>
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        </button>
      }
    >
      <SearchList
        label={searchLabel}
        text={props.text}
        onTextChange={onTextChange}
        options={props.options}
        isStale={props.isStale}
        empty={props.empty}
        footer={props.footer}
        onPick={({ id }) => {
          open(false);
          onPick(id);
        }}
        onClose={() => open(false)}
      />
    </Popover>
  );
}

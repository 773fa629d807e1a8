"use client";

import { ChevronDown } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { useFieldControl } from "#components/ui/field.tsx";
import { controlStyle, itemStyle, surfaceStyle } from "#components/ui/styles.ts";
import { filterByText } from "#server/shared/fold-text.ts";

export interface ComboboxOption {
  value: string;
  label?: string;
}

export interface ComboboxProps {
  value: string;
  onValueChange: (value: string) => void;
  /** Suggestions; anything else may be typed. */
  options: readonly ComboboxOption[];
  placeholder?: string;
  disabled?: boolean;
  isLoading?: boolean;
  /** Under the list: where it comes from. */
  footer?: ReactNode;
  className?: string;
}

const MAX_SHOWN = 200;

/** A text field with suggestions. Arrow keys choose, Enter takes, Esc closes; free text is always allowed. */
export function Combobox({
  value,
  onValueChange,
  options,
  placeholder,
  disabled = false,
  isLoading = false,
  footer,
  className,
}: ComboboxProps) {
  const field = useFieldControl();
  const listId = useId();
  const [isOpen, setIsOpen] = useState(false);
  // Until something is typed the whole list is offered, not only what matches the current value.
  const [isFiltering, setIsFiltering] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);

  const query = isFiltering ? value.trim() : "";
  const shown = filterByText(options, query, (option) => `${option.value} ${option.label ?? ""}`).slice(0, MAX_SHOWN);

  useEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const open = () => {
    if (disabled || isOpen) return;
    setIsFiltering(false);
    setActive(options.findIndex((option) => option.value === value));
    setIsOpen(true);
  };
  const take = (next: string) => {
    onValueChange(next);
    setIsOpen(false);
    setIsFiltering(false);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) return open();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((current) => (shown.length === 0 ? -1 : (current + step + shown.length) % shown.length));
    } else if (event.key === "Enter" && isOpen) {
      const choice = shown[active];
      event.preventDefault();
      take(choice ? choice.value : value);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      setIsOpen(false);
    } else if (event.key === "Tab") {
      setIsOpen(false);
    }
  };

  return (
    <Radix.Root open={isOpen} onOpenChange={setIsOpen}>
      <Radix.Anchor className={cn("relative", className)}>
        <input
          {...field}
          ref={input}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={listId}
          aria-autocomplete="list"
          {...(isOpen && active >= 0 && { "aria-activedescendant": `${listId}${active}` })}
          value={value}
          disabled={disabled}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          onClick={open}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            onValueChange(event.target.value);
            setIsFiltering(true);
            setActive(-1);
            setIsOpen(true);
          }}
          className={cn(controlStyle, "h-8 pr-8 pl-2.5 font-mono text-12 placeholder:font-sans placeholder:text-13 pointer-coarse:h-11")}
        />
        <ChevronDown aria-hidden className="pointer-events-none absolute top-1/2 right-2 size-3.5 -translate-y-1/2 text-ink-faint" />
      </Radix.Anchor>
      <Radix.Portal>
        <Radix.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label="Suggestions"
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onEscapeKeyDown={(event) => isComposing(event) && event.preventDefault()}
          onInteractOutside={(event) => input.current === event.target && event.preventDefault()}
          className={cn(surfaceStyle, "flex max-h-72 w-(--radix-popover-trigger-width) min-w-56 flex-col")}
        >
          <div ref={list} id={listId} role="listbox" aria-label="Suggestions" className="min-h-0 flex-1 overflow-y-auto p-1">
            {shown.map((option, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys, as the combobox pattern asks
              // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field
              <div
                key={option.value}
                id={`${listId}${index}`}
                role="option"
                aria-selected={index === active}
                onClick={() => take(option.value)}
                onPointerMove={() => setActive(index)}
                className={cn(
                  itemStyle,
                  "cursor-pointer font-mono text-12",
                  index === active && "bg-hover",
                  option.value === value && "text-thread-text",
                )}
              >
                <span className="min-w-0 truncate">{option.value}</span>
                {option.label && option.label !== option.value && (
                  <span className="ml-auto truncate font-sans text-ink-faint">{option.label}</span>
                )}
              </div>
            ))}
          </div>
          {shown.length === 0 && (
            <p className="px-3 pb-2 text-12 text-ink-faint">
              {isLoading
                ? "Loading…"
                : query
                  ? `Nothing in the list matches. “${value.trim()}” is taken as typed.`
                  : "Nothing to suggest. Type it."}
            </p>
          )}
          {footer && <div className="border-t px-3 py-1.5 text-12 text-ink-faint">{footer}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

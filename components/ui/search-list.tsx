"use client";

import { Check, Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { Kbd } from "#components/ui/kbd.tsx";
import { Marked } from "#components/ui/marked.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { itemStyle } from "#components/ui/styles.ts";

export interface SearchOption {
  id: string;
  label: string;
  /** Beside or below the name: what it is, or where the words were found. */
  detail?: string | null | undefined;
  /** Options of a group stand together; its heading is above the first. */
  group?: string;
  icon?: ReactNode;
  shortcut?: readonly string[] | undefined;
  /** Has a tick. */
  isChosen?: boolean;
  /** Why it cannot be taken: it stays in the list, dimmed, with this for its detail. */
  refusal?: string | null;
}

export interface SearchListProps<Option extends SearchOption> {
  /** Accessible name and placeholder of the field. */
  label: string;
  text: string;
  onTextChange: (text: string) => void;
  /** What the text finds; whoever gives them searches. */
  options: readonly Option[];
  /** While the options are those of an earlier text: Enter waits for those of this one. */
  isStale: boolean;
  onPick: (option: Option) => void;
  /** Tab, and Escape where the surface around it has not seen to it. */
  onClose: () => void;
  /** Said in place of options. */
  empty: ReactNode;
  /** Below the list: how many more there are, what keys do. */
  footer?: ReactNode;
  className?: string;
}

/** A search field over a list: type to search, arrow keys to choose, Enter to take. */
export function SearchList<Option extends SearchOption>(props: SearchListProps<Option>) {
  const { label, text, onTextChange, options, isStale, onPick, onClose, empty, footer, className } = props;
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const isWanted = useRef(false);
  const index = Math.min(active, options.length - 1);
  const current = options[index];

  // biome-ignore lint/correctness/useExhaustiveDependencies: other options under the same index are shown as well
  useEffect(() => {
    list.current?.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: "nearest" });
  }, [index, options]);
  useEffect(() => {
    if (isStale || !isWanted.current) return;
    isWanted.current = false;
    if (current) onPick(current);
  }, [isStale, current, onPick]);

  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (isComposing(event)) return;
    if (move !== undefined) {
      if (options.length > 0) setActive((index + move + options.length) % options.length);
    } else if (event.key === "Enter") {
      if (isStale) isWanted.current = true;
      else if (current) onPick(current);
    } else if (event.key === "Tab" || (event.key === "Escape" && !event.defaultPrevented)) onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className={cn("flex min-h-0 flex-col", className)}>
      <div className="relative border-b">
        <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-ink-faint" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the list was asked for; typing goes into it at once
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-label={label}
          aria-autocomplete="list"
          {...(current && { "aria-activedescendant": `${listId}${index}` })}
          placeholder={label}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={text}
          onChange={(event) => {
            isWanted.current = false;
            setActive(0);
            onTextChange(event.target.value);
          }}
          onKeyDown={onKeyDown}
          className="h-11 w-full bg-transparent pr-10 pl-9 text-14 text-ink outline-none pointer-coarse:text-16"
        />
        {isStale && <Spinner className="absolute top-1/2 right-3 -translate-y-1/2" />}
      </div>
      <div ref={list} id={listId} role="listbox" aria-label={label} className="@container min-h-0 flex-1 overflow-y-auto p-1">
        {options.map((option, position) => {
          const detail = option.refusal ?? option.detail;
          return (
            <div key={option.id} role="presentation">
              {option.group !== undefined && option.group !== options[position - 1]?.group && (
                <div role="presentation" className="px-2 pt-2 pb-1 font-semibold text-12 text-ink-faint">
                  {option.group}
                </div>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys, as the combobox pattern asks */}
              {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays in the search field */}
              <div
                id={`${listId}${position}`}
                data-index={position}
                role="option"
                aria-selected={position === index}
                aria-disabled={option.refusal ? true : undefined}
                onClick={() => onPick(option)}
                onPointerMove={() => setActive(position)}
                className={cn(
                  itemStyle,
                  "min-h-9 cursor-pointer py-1 pointer-coarse:min-h-11",
                  position === index && "bg-hover",
                  option.refusal && "text-ink-soft",
                )}
              >
                {option.icon}
                <span className="flex min-w-0 flex-1 @max-lg:flex-col items-baseline gap-x-2">
                  <span className={cn("max-w-full shrink-0 truncate", detail && "@lg:max-w-[60%]")}>
                    <Marked text={option.label} q={text} />
                  </span>
                  {detail && (
                    <span className="line-clamp-3 @lg:line-clamp-1 min-w-0 max-w-full text-12 text-ink-soft">
                      <Marked text={detail} q={text} />
                    </span>
                  )}
                </span>
                {option.isChosen && <Check aria-hidden className="text-thread-text!" />}
                {option.shortcut && (
                  <span aria-hidden className="flex shrink-0 gap-0.5">
                    {option.shortcut.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </span>
                )}
              </div>
            </div>
          );
        })}
      </div>
      {options.length === 0 && <div className="px-3 pt-1 pb-3 text-14 text-ink-soft">{isStale ? "Searching…" : empty}</div>}
      {footer && <div className="border-t px-3 py-1.5 text-12 text-ink-faint max-sm:has-[>[data-keys]]:hidden">{footer}</div>}
    </div>
  );
}

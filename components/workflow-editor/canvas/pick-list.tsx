"use client";

import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { itemStyle } from "#components/ui/menu-style.ts";

export interface PickItem {
  id: string;
  label: string;
  hint?: string;
  group?: string;
  icon?: ReactNode;
  /** Why it cannot be taken; it stays in the list, dimmed, with the reason. */
  refusal?: string | null;
}

export interface PickListProps {
  label: string;
  items: readonly PickItem[];
  onPick: (id: string) => void;
  onRefused?: (reason: string) => void;
  onClose: () => void;
  empty: string;
}

/** A search field over a list: type to narrow, arrow keys to choose, Enter to take, Esc to close. */
export function PickList({ label, items, onPick, onRefused, onClose, empty }: PickListProps) {
  const listId = useId();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const wanted = query.trim().toLowerCase();
  const shown = items.filter((item) => `${item.label} ${item.hint ?? ""} ${item.group ?? ""}`.toLowerCase().includes(wanted));
  const index = Math.min(active, shown.length - 1);

  useEffect(() => {
    list.current?.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: "nearest" });
  }, [index]);

  const take = (item: PickItem | undefined) => {
    if (!item) return;
    if (item.refusal) onRefused?.(item.refusal);
    else onPick(item.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined && shown.length > 0) setActive((index + move + shown.length) % shown.length);
    else if (event.key === "Enter") take(shown[index]);
    else if (event.key === "Escape" || event.key === "Tab") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex max-h-80 min-h-0 flex-col">
      <div className="relative border-b">
        <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-3.5 -translate-y-1/2 text-ink-faint" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the list was asked for; typing goes into it at once
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-label={label}
          placeholder={label}
          autoComplete="off"
          spellCheck={false}
          {...(shown[index] && { "aria-activedescendant": `${listId}${index}` })}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
          className="h-10 w-full bg-transparent pr-3 pl-9 text-13 text-ink outline-none pointer-coarse:text-16"
        />
      </div>
      <div ref={list} id={listId} role="listbox" aria-label={label} className="min-h-0 flex-1 overflow-y-auto p-1">
        {shown.map((item, position) => (
          <div key={item.id} role="presentation">
            {item.group !== undefined && item.group !== shown[position - 1]?.group && (
              <div role="presentation" className="px-2 pt-2 pb-1 text-11 text-ink-faint">
                {item.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys, as the combobox pattern asks */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays in the search field */}
            <div
              id={`${listId}${position}`}
              data-index={position}
              role="option"
              aria-selected={position === index}
              aria-disabled={Boolean(item.refusal)}
              onClick={() => take(item)}
              onPointerMove={() => setActive(position)}
              className={cn(itemStyle, "cursor-pointer py-1", position === index && "bg-hover", item.refusal && "text-ink-soft")}
            >
              {item.icon}
              <span className="flex min-w-0 flex-col">
                <span className="truncate font-medium">{item.label}</span>
                {(item.refusal ?? item.hint) && <span className="text-12 text-ink-soft">{item.refusal ?? item.hint}</span>}
              </span>
            </div>
          </div>
        ))}
        {shown.length === 0 && <p className="px-2 py-3 text-13 text-ink-soft">{wanted ? `Nothing matches “${query.trim()}”.` : empty}</p>}
      </div>
    </div>
  );
}

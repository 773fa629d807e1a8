"use client";

import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import type { OutputPart } from "#server/features/canvases/schema.ts";

interface PathTreeProps {
  label: string;
  root: OutputPart;
  /** The path that is chosen now. */
  value: string;
  onPick: (path: string) => void;
}

interface Row {
  part: OutputPart;
  level: number;
  parent: string | null;
}

/** An output as a tree: a click, or Enter, picks a part. */
export function PathTree({ label, root, value, onPick }: PathTreeProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set([root.path, ...leadingTo(root, value)]));
  const [current, setCurrent] = useState(value || root.path);
  const tree = useRef<HTMLDivElement>(null);
  const rows = rowsOf(root, open);
  const focused = rows.some(({ part }) => part.path === current) ? current : root.path;
  const toggle = (path: string, isOpen: boolean) =>
    setOpen((now) => {
      const next = new Set(now);
      if (isOpen) next.add(path);
      else next.delete(path);
      return next;
    });
  const focus = (path: string | undefined) => {
    if (path === undefined) return;
    setCurrent(path);
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const index = rows.findIndex(({ part }) => part.path === focused);
    const row = rows[index];
    if (!row) return;
    const { part, parent } = row;
    const isOpen = open.has(part.path);
    const hasParts = part.parts.length > 0;
    switch (event.key) {
      case "ArrowDown":
        focus(rows[index + 1]?.part.path);
        break;
      case "ArrowUp":
        focus(rows[index - 1]?.part.path);
        break;
      case "Home":
        focus(rows[0]?.part.path);
        break;
      case "End":
        focus(rows.at(-1)?.part.path);
        break;
      case "ArrowRight":
        if (hasParts && !isOpen) toggle(part.path, true);
        else focus(part.parts[0]?.path);
        break;
      case "ArrowLeft":
        if (hasParts && isOpen) toggle(part.path, false);
        else focus(parent ?? undefined);
        break;
      case "Enter":
      case " ":
        onPick(part.path);
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  return (
    <div
      ref={tree}
      role="tree"
      aria-label={label}
      onKeyDown={onKeyDown}
      className="max-h-52 overflow-auto rounded-md border bg-surface p-1 font-mono text-12"
    >
      {rows.map(({ part, level }) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys, as the pattern asks
        <div
          key={part.path}
          role="treeitem"
          aria-level={level}
          aria-selected={part.path === value}
          {...(part.parts.length > 0 && { "aria-expanded": open.has(part.path) })}
          aria-label={`${part.name}: ${part.text || "empty"}`}
          data-path={part.path}
          tabIndex={part.path === focused ? 0 : -1}
          onClick={() => {
            setCurrent(part.path);
            onPick(part.path);
          }}
          style={{ paddingLeft: (level - 1) * 14 }}
          className="group/part flex min-h-6 cursor-pointer items-center gap-1 rounded-sm pr-2 hover:bg-hover aria-selected:bg-thread-soft aria-selected:text-thread-text pointer-coarse:min-h-11"
        >
          <span
            aria-hidden
            onClick={(event) => {
              if (part.parts.length === 0) return;
              event.stopPropagation();
              toggle(part.path, !open.has(part.path));
            }}
            className="inline-flex size-6 shrink-0 items-center justify-center text-ink-faint"
          >
            {part.parts.length > 0 && <ChevronRight className={cn("size-3.5 transition-transform", open.has(part.path) && "rotate-90")} />}
          </span>
          <span className="shrink-0">{part.name}</span>
          <span className="min-w-0 flex-1 truncate text-right text-ink-faint group-aria-selected/part:text-inherit">{part.text}</span>
        </div>
      ))}
    </div>
  );
}

function rowsOf(part: OutputPart, open: ReadonlySet<string>, level = 1, parent: string | null = null): Row[] {
  const inside = open.has(part.path) ? part.parts.flatMap((inner) => rowsOf(inner, open, level + 1, part.path)) : [];
  return [{ part, level, parent }, ...inside];
}

/** The parts around the one with this path. */
function leadingTo(part: OutputPart, path: string): string[] {
  if (part.path === path) return [part.path];
  for (const inner of part.parts) {
    const found = leadingTo(inner, path);
    if (found.length > 0) return [part.path, ...found];
  }
  return [];
}

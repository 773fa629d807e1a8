"use client";

import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";

export interface ResizableDividerProps {
  /** Name under which the size is kept; the size itself is the CSS variable --layout-{name} on <html>, set before first paint. */
  name: string;
  label: string;
  /** "vertical" stands between left and right, "horizontal" between top and bottom. */
  orientation: "vertical" | "horizontal";
  /** Which side of the line the sized area lies on. */
  area: "before" | "after";
  /** Pixels. */
  defaultSize: number;
  min: number;
  /** Pixels, or a share of the window (0 to 1). */
  max: number;
  /** Called while and after resizing, with pixels. */
  onResize?: (size: number) => void;
  className?: string;
}

/**
 * The line between two areas. Drag it, use the arrow keys (Shift for bigger steps, Home and End for the limits), or
 * double-click for the default. Size the area with `width: var(--layout-{name}, {defaultSize}px)`.
 */
export function ResizableDivider({ name, label, orientation, area, defaultSize, min, max, onResize, className }: ResizableDividerProps) {
  const isVertical = orientation === "vertical";
  const [size, setSize] = useState(defaultSize);
  const drag = useRef<{ at: number; size: number } | null>(null);
  const limit = useCallback(
    () => (max <= 1 ? Math.round((isVertical ? window.innerWidth : window.innerHeight) * max) : max),
    [max, isVertical],
  );

  useEffect(() => {
    const stored = Number.parseFloat(document.documentElement.style.getPropertyValue(`--layout-${name}`));
    if (Number.isFinite(stored)) setSize(stored);
  }, [name]);

  const apply = (next: number) => {
    const clamped = Math.round(Math.max(min, Math.min(limit(), next)));
    setSize(clamped);
    storeLayout(name, clamped);
    onResize?.(clamped);
  };
  const sign = area === "before" ? 1 : -1;

  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { at: isVertical ? event.clientX : event.clientY, size };
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!drag.current) return;
    apply(drag.current.size + sign * ((isVertical ? event.clientX : event.clientY) - drag.current.at));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.shiftKey ? 64 : 16;
    const [less, more] = isVertical ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const next = { [less as string]: size - sign * step, [more as string]: size + sign * step, Home: min, End: limit() }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    apply(next);
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a focusable separator has no element of its own; <hr> cannot be moved
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max <= 1 ? 4096 : max}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        drag.current = null;
      }}
      onPointerCancel={() => {
        drag.current = null;
      }}
      onDoubleClick={() => apply(defaultSize)}
      onKeyDown={onKeyDown}
      className={cn(
        "group relative z-10 shrink-0 touch-none select-none bg-line transition-colors hover:bg-thread focus-visible:bg-thread focus-visible:outline-offset-0",
        isVertical
          ? "w-px cursor-col-resize before:absolute before:inset-y-0 before:-inset-x-1.5"
          : "h-px cursor-row-resize before:absolute before:inset-x-0 before:-inset-y-1.5",
        className,
      )}
    />
  );
}

const KEY = "treadle.layout";

/** Keeps an area's size in pixels and shows it at once as the CSS variable --layout-{name}. */
export function storeLayout(name: string, size: number): void {
  document.documentElement.style.setProperty(`--layout-${name}`, `${size}px`);
  try {
    const sizes: Record<string, number> = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    localStorage.setItem(KEY, JSON.stringify({ ...sizes, [name]: size }));
  } catch {
    // Without storage (private window, full disk) the size lasts until the page closes, which is good enough.
  }
}

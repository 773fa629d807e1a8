import { type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, useLayoutEffect, useRef, useState } from "react";
import { arrange, type Layout, moved, resized } from "#components/canvases/editing/arrange.ts";
import { nameOf } from "#components/canvases/editing/words.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

export type GestureKind = "move" | "resize";

interface Gesture {
  id: string;
  kind: GestureKind;
  /** As all stood when it began: what it leads to is reckoned from here, so that passing over others leaves no trace. */
  base: readonly Widget[];
  columns: number;
  rows: number;
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where all stand after a gesture. */
function after({ id, kind, base, columns, rows }: Gesture): Widget[] {
  const widget = base.find((one) => one.id === id);
  if (!widget) return [...base];
  return arrange(base, id, (kind === "move" ? moved : resized)(widget.layout, columns, rows));
}

const placesOf = (widgets: readonly Widget[]): string => JSON.stringify(widgets.map(({ layout }) => layout));

const say = (widget: Widget, { x, y, w, h }: Layout) => `${nameOf(widget)}: column ${x + 1}, row ${y + 1}, ${w} wide, ${h} high`;

/** Pixels from the beginning of one column and row to the next; null where widgets stand one under the other. */
function pitchOf(grid: Element | null | undefined): { column: number; row: number } | null {
  if (!grid) return null;
  const { display, gridTemplateColumns, gridAutoRows, columnGap, rowGap } = getComputedStyle(grid);
  if (display !== "grid") return null;
  const gap = Number.parseFloat(columnGap) || 0;
  return { column: Number.parseFloat(gridTemplateColumns) + gap, row: Number.parseFloat(gridAutoRows) + (Number.parseFloat(rowGap) || 0) };
}

interface GestureOptions {
  widgets: readonly Widget[];
  /** Makes it a step; steps with one key in quick succession are one. */
  onEdit: (name: string, widgets: readonly Widget[], key?: string) => void;
  onSay: (text: string) => void;
}

/**
 * Moving and resizing, by the pointer and by arrow keys. Our own: libraries for grids (react-grid-layout, gridstack) measure and
 * place everything themselves and know no keys; here the grid is CSS and only the places are ours.
 */
export function useGesture({ widgets, onEdit, onSay }: GestureOptions) {
  const [dragged, setDragged] = useState<Gesture | null>(null);
  const keyed = useRef<(Gesture & { result: readonly Widget[] }) | null>(null);
  /** The control whose key is being answered: when widgets change places in the page it would lose the focus. */
  const answering = useRef<HTMLElement | null>(null);
  const latest = useRef({ widgets, onEdit, onSay });
  latest.current = { widgets, onEdit, onSay };

  useLayoutEffect(() => {
    const { current } = answering;
    answering.current = null;
    if (current && document.activeElement !== current) current.focus({ preventScroll: true });
  });

  const shown = dragged ? after(dragged) : widgets;
  const tell = (id: string, all: readonly Widget[]) => {
    const widget = all.find((one) => one.id === id);
    if (widget) latest.current.onSay(say(widget, widget.layout));
  };

  const startDrag = (event: PointerEvent<HTMLElement>, id: string, kind: GestureKind) => {
    const cell = event.currentTarget.closest<HTMLElement>("[data-widget]");
    const grid = cell?.parentElement?.parentElement;
    const pitch = pitchOf(grid);
    if (!grid || !pitch || event.button !== 0) return;
    const base = latest.current.widgets;
    const origin = { x: event.clientX, y: event.clientY - grid.getBoundingClientRect().top };
    let gesture: Gesture = { id, kind, base, columns: 0, rows: 0 };
    const onMove = (moving: globalThis.PointerEvent) => {
      const columns = Math.round((moving.clientX - origin.x) / pitch.column);
      const rows = Math.round((moving.clientY - grid.getBoundingClientRect().top - origin.y) / pitch.row);
      if (columns === gesture.columns && rows === gesture.rows) return;
      gesture = { ...gesture, columns, rows };
      setDragged(gesture);
      // What is dragged stays in sight.
      requestAnimationFrame(() => grid.querySelector(`[data-widget="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" }));
    };
    const end = () => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", onKey, true);
      setDragged(null);
    };
    const drop = () => {
      end();
      // Others may have added something meanwhile.
      const result = after({ ...gesture, base: latest.current.widgets });
      latest.current.onEdit(`${kind} ${nameOfId(base, id)}`, result);
      if (gesture.columns !== 0 || gesture.rows !== 0) tell(id, result);
    };
    const onKey = (pressed: globalThis.KeyboardEvent) => {
      if (pressed.key !== "Escape") return;
      pressed.stopPropagation();
      end();
    };
    event.preventDefault();
    setDragged(gesture);
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", end);
    addEventListener("keydown", onKey, true);
  };

  const endKeys = () => {
    keyed.current = null;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>, id: string, kind: GestureKind) => {
    const arrow = ARROWS[event.key];
    const known = keyed.current?.id === id && keyed.current.kind === kind ? keyed.current : null;
    // What else has changed since, by somebody else too, is where it goes on from.
    const gesture = known?.result === latest.current.widgets ? known : null;
    if (event.key === "Escape" && gesture) {
      event.preventDefault();
      latest.current.onEdit(`${kind} ${nameOfId(gesture.base, id)}`, gesture.base, `${kind} ${id}`);
      latest.current.onSay("Cancelled");
      answering.current = event.currentTarget;
      endKeys();
      return;
    }
    if (!arrow || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = gesture ?? { id, kind, base: latest.current.widgets, columns: 0, rows: 0 };
    const turned = { ...next, columns: next.columns + arrow[0], rows: next.rows + arrow[1] };
    const result = after(turned);
    // At an edge a key more does nothing, and the way back needs none more either.
    const isAtEdge = placesOf(result) === placesOf(latest.current.widgets);
    keyed.current = isAtEdge ? { ...next, result: latest.current.widgets } : { ...turned, result };
    if (!isAtEdge) answering.current = event.currentTarget;
    latest.current.onEdit(`${kind} ${nameOfId(next.base, id)}`, result, `${kind} ${id}`);
    tell(id, result);
  };

  return {
    shown,
    /** Which widget is dragged now. */
    dragged: dragged?.id ?? null,
    /** What a control for moving or resizing a widget needs. */
    control: (id: string, kind: GestureKind) => ({
      onPointerDown: (event: PointerEvent<HTMLElement>) => startDrag(event, id, kind),
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => onKeyDown(event, id, kind),
      // By Enter or Space; what was dragged has been told.
      onClick: ({ detail }: MouseEvent) => detail === 0 && onSay(`Use the arrow keys to ${kind} it, Escape to cancel.`),
      onBlur: (event: FocusEvent<HTMLElement>) => answering.current !== event.currentTarget && endKeys(),
    }),
    startDrag,
  };
}

const nameOfId = (widgets: readonly Widget[], id: string): string => {
  const widget = widgets.find((one) => one.id === id);
  return widget ? nameOf(widget) : "a widget";
};

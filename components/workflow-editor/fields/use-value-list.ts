"use client";

import { type ChangeEvent, type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from "react";
import type { ValueOption } from "#components/workflow-editor/fields/value-list.tsx";

/** The kind of input by which something outside of a field puts a value into it, as a drop does. */
export const INSERTED = "insertFromDrop";

interface OpenPart {
  start: number;
  query: string;
}

export interface ValueListOptions {
  /** Around the text field. */
  box: RefObject<HTMLElement | null>;
  value: string;
  onChange: (value: string) => void;
  /** Everything that can be put in; asked when the list opens. */
  all: () => ValueOption[];
  /** The beginning of a value before the caret. */
  openPart: (text: string, caret: number) => OpenPart | null;
  insert: (text: string, start: number, caret: number, code: string) => { text: string; caret: number };
}

/** The list of values of a text field: opens while one types the beginning of one, arrow keys and Enter put one in. */
export function useValueList({ box, value, onChange, all, openPart, insert }: ValueListOptions) {
  const area = () => box.current?.querySelector("textarea");
  const caretAfter = useRef<number | null>(null);
  // What is offered is worked out anew at each drawing: values may arrive while the list is open.
  const [place, setPlace] = useState<{ start: number; end: number; wanted: string; active: number } | null>(null);
  // A value that stands there whole is not offered again.
  const offered = place
    ? all().filter(({ code }) => code.toLowerCase().includes(place.wanted) && code !== value.slice(place.start, place.end))
    : [];
  const list = place && offered.length > 0 ? { ...place, options: offered, active: Math.min(place.active, offered.length - 1) } : null;

  useLayoutEffect(() => {
    if (caretAfter.current === null) return;
    area()?.setSelectionRange(caretAfter.current, caretAfter.current);
    caretAfter.current = null;
  });

  const take = (option: ValueOption | undefined) => {
    if (!option || !list) return;
    const next = insert(value, list.start, list.end, option.code);
    caretAfter.current = next.caret;
    setPlace(null);
    onChange(next.text);
    area()?.focus();
  };
  /** Opens the list where a value begins before the caret, and closes it elsewhere. */
  const look = (text: string, caret: number) => {
    const open = openPart(text, caret);
    setPlace(open && { start: open.start, end: caret, wanted: open.query.trim().toLowerCase(), active: 0 });
  };
  return {
    list,
    take,
    look,
    onType(event: ChangeEvent<HTMLTextAreaElement>) {
      const { value: text, selectionEnd } = event.target;
      onChange(text);
      // What came as a whole is not the beginning of something.
      if ((event.nativeEvent as InputEvent).inputType === INSERTED) setPlace(null);
      else look(text, selectionEnd);
    },
    close: () => setPlace(null),
    setActive: (active: number) => place && setPlace({ ...place, active }),
    /** Elsewhere, a beginning without an end is no longer looked at; an open list closes by itself. */
    onBlur: () => list === null && setPlace(null),
    openAtCaret() {
      const caret = area()?.selectionEnd ?? value.length;
      setPlace({ start: caret, end: caret, wanted: "", active: 0 });
      area()?.focus();
    },
    onKeyDown(event: KeyboardEvent) {
      if (!list) return;
      const count = list.options.length;
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move !== undefined && place) setPlace({ ...place, active: (list.active + move + count) % count });
      else if (event.key === "Enter" || event.key === "Tab") take(list.options[list.active]);
      else if (event.key === "Escape") setPlace(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}

"use client";

import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from "react";
import type { ValueOption } from "#components/editor/value-list.tsx";

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
  const [list, setList] = useState<{ start: number; end: number; options: ValueOption[]; active: number } | null>(null);

  useLayoutEffect(() => {
    if (caretAfter.current === null) return;
    area()?.setSelectionRange(caretAfter.current, caretAfter.current);
    caretAfter.current = null;
  });

  const take = (option: ValueOption | undefined) => {
    if (!option || !list) return;
    const next = insert(value, list.start, list.end, option.code);
    caretAfter.current = next.caret;
    setList(null);
    onChange(next.text);
    area()?.focus();
  };
  return {
    list,
    take,
    close: () => setList(null),
    setActive: (active: number) => list && setList({ ...list, active }),
    /** Opens the list where a value begins before the caret, and closes it elsewhere. */
    look(text: string, caret: number) {
      const open = openPart(text, caret);
      const wanted = open?.query.trim().toLowerCase() ?? "";
      // A value that stands there whole is not offered again.
      const options = open ? all().filter(({ code }) => code.toLowerCase().includes(wanted) && code !== text.slice(open.start, caret)) : [];
      setList(open && options.length ? { start: open.start, end: caret, options, active: 0 } : null);
    },
    openAtCaret() {
      const caret = area()?.selectionEnd ?? value.length;
      setList({ start: caret, end: caret, options: all(), active: 0 });
      area()?.focus();
    },
    onKeyDown(event: KeyboardEvent) {
      if (!list) return;
      const count = list.options.length;
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move !== undefined) setList({ ...list, active: (list.active + move + count) % count });
      else if (event.key === "Enter" || event.key === "Tab") take(list.options[list.active]);
      else if (event.key === "Escape") setList(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}

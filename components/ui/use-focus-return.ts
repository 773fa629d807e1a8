"use client";

import { useRef } from "react";

const DIALOG = "[role=dialog], [role=alertdialog]";

/** What last had the focus outside of dialogs: a field that takes it by `autoFocus` is focused before anybody could look. */
let outside: Element | null = null;
if (typeof document !== "undefined")
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && !target.closest(DIALOG)) outside = target;
  });

/**
 * For a dialog that no trigger of Radix opened: gives the focus back to what had it before. To be spread over the content.
 */
export function useFocusReturn() {
  const before = useRef<Element | null>(null);
  return {
    // Told before Radix moves the focus into the dialog; not at all when a field in it has it already.
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event: Event) => {
      const back = before.current ?? outside;
      before.current = null;
      if (!(back instanceof HTMLElement || back instanceof SVGElement) || !back.isConnected) return;
      event.preventDefault();
      back.focus();
    },
  };
}

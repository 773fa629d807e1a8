"use client";

import { type RefObject, useEffect } from "react";

const GAP = 8;

/** Keeps toasts on a phone above this element, which stands at the foot of its page: they would cover it. */
export function useToastsAbove(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const bar = element.current;
    const area = bar?.offsetParent;
    if (!bar || !area) return;
    const { style } = document.documentElement;
    const place = () => {
      const { top, height } = bar.getBoundingClientRect();
      // In a tab that is not shown it takes nothing.
      if (height > 0) style.setProperty("--toasts-above", `${Math.max(0, innerHeight - top) + GAP}px`);
      else style.removeProperty("--toasts-above");
    };
    const observer = new ResizeObserver(place);
    observer.observe(bar);
    observer.observe(area);
    return () => {
      observer.disconnect();
      style.removeProperty("--toasts-above");
    };
  }, [element]);
}

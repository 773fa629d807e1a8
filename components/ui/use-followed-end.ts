"use client";

import { type RefObject, useEffect, useRef } from "react";

/** How near to its end something counts as read to the end, in pixels. */
const NEAR = 60;

/**
 * A box that stays at its end while what is in it grows, unless the reader has scrolled up. Give the returned ref to the box.
 * @param count of entries: with a new one it goes to the end wherever the reader is
 */
export function useFollowedEnd<Box extends HTMLElement>(count: number): RefObject<Box | null> {
  const ref = useRef<Box>(null);
  useEffect(() => {
    const box = ref.current;
    if (!box || count === 0) return;
    let isAtEnd = true;
    let top = box.scrollTop;
    // Only who goes up leaves the end: it may also have moved away since this box was last scrolled there.
    const look = () => {
      isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR || (isAtEnd && box.scrollTop >= top);
      top = box.scrollTop;
    };
    const grown = new ResizeObserver(() => {
      if (isAtEnd) box.scrollTo({ top: box.scrollHeight });
    });
    for (const child of [box, ...box.children]) grown.observe(child);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, [count]);
  return ref;
}

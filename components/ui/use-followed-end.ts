"use client";

import { type RefObject, useEffect, useRef } from "react";

/** How near to its end something counts as read to the end, in pixels. */
const NEAR = 60;

/**
 * A box that stays at its end while it grows, unless the reader has scrolled up. Give the returned ref to the box.
 * @param content what it is drawn from: another one means that it may have grown
 * @param count of entries: with a new one it goes to the end wherever the reader is
 */
export function useFollowedEnd<Box extends HTMLElement>(content: unknown, count: number): RefObject<Box | null> {
  const ref = useRef<Box>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const box = ref.current;
    if (!box || count === 0) return;
    const look = () => {
      isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    };
    box.addEventListener("scroll", look, { passive: true });
    isAtEnd.current = true;
    return () => box.removeEventListener("scroll", look);
  }, [count]);
  useEffect(() => {
    if (content && isAtEnd.current) ref.current?.scrollTo({ top: ref.current.scrollHeight });
  }, [content]);
  return ref;
}

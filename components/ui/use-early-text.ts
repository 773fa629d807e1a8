"use client";

import { type ChangeEvent, type RefObject, useEffect, useRef } from "react";

/**
 * Text that was typed, or filled in by a password manager, before React took the page over stands in the field but was
 * never told to `onChange`. This tells it, once. Give the returned ref to the field.
 */
export function useEarlyText<Field extends HTMLInputElement | HTMLTextAreaElement>(
  value: unknown,
  onChange: ((event: ChangeEvent<Field>) => void) | undefined,
): RefObject<Field | null> {
  const field = useRef<Field>(null);
  const isTold = useRef(false);
  useEffect(() => {
    const node = field.current;
    if (isTold.current || !node) return;
    isTold.current = true;
    if (typeof value === "string" && node.value !== value) onChange?.({ target: node, currentTarget: node } as ChangeEvent<Field>);
  }, [value, onChange]);
  return field;
}

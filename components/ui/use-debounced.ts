"use client";

import { useEffect, useState } from "react";

/** The value as it was when it last stood still for `pause` milliseconds. Compared by content, so a new object of the same content is none. */
export function useDebounced<Value>(value: Value, pause: number): Value {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is the value's content
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [key, pause]);
  return settled;
}

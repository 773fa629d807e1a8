"use client";

import { useEffect, useState } from "react";
import { formatDateTime, formatRelative } from "#components/format.ts";

/** A moment as distance from now, kept fresh; the exact time is its title. */
export function Time({ value, className }: { value: string; className?: string }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={value} title={formatDateTime(value)} className={className} suppressHydrationWarning>
      {formatRelative(value)}
    </time>
  );
}

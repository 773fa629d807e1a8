"use client";

import { useEffect, useState } from "react";
import { formatDateTime, formatDuration, formatRelative } from "#components/format.ts";

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

/** Time since a moment, counting up second by second. */
export function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span suppressHydrationWarning>{formatDuration(Math.max(0, Math.floor((now - Date.parse(since)) / 1000) * 1000))}</span>;
}

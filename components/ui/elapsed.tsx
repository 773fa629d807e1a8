"use client";

import { useEffect, useState } from "react";
import { formatDuration } from "#components/format.ts";

/** Time since a moment, counting up second by second. */
export function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span suppressHydrationWarning>{formatDuration(Math.max(0, Math.floor((now - Date.parse(since)) / 1000) * 1000))}</span>;
}

"use client";

import { useEffect, useState } from "react";

const KEY = "treadle.assistant.thread";

/** The thread that was open last in a project on this browser, for the panel; null for a new one. */
export function useCurrentThread(projectId: string): [string | null, (threadId: string | null) => void] {
  const key = `${KEY}.${projectId}`;
  const [threadId, setThreadId] = useState<string | null>(null);
  useEffect(() => {
    try {
      setThreadId(localStorage.getItem(key));
    } catch {
      // Without storage each page begins a new one.
    }
  }, [key]);
  const open = (next: string | null) => {
    setThreadId(next);
    try {
      if (next === null) localStorage.removeItem(key);
      else localStorage.setItem(key, next);
    } catch {
      // It lasts until the page closes.
    }
  };
  return [threadId, open];
}

"use client";

import { useEffect, useState } from "react";

const KEY = "treadle.assistant.thread";

/** Has the panel open with this thread the next time; null: with a new one. */
export function keepCurrentThread(projectId: string, threadId: string | null): void {
  try {
    if (threadId === null) localStorage.removeItem(`${KEY}.${projectId}`);
    else localStorage.setItem(`${KEY}.${projectId}`, threadId);
  } catch {
    // Without storage each page begins a new one.
  }
}

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
    keepCurrentThread(projectId, next);
  };
  return [threadId, open];
}

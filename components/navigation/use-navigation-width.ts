"use client";

import { useSyncExternalStore } from "react";

const KEY = "treadle.nav";
const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

function toggle(): void {
  const isRail = document.documentElement.dataset.nav !== "rail";
  if (isRail) document.documentElement.dataset.nav = "rail";
  else delete document.documentElement.dataset.nav;
  try {
    localStorage.setItem(KEY, isRail ? "rail" : "full");
  } catch {
    // Without storage the width lasts until the page closes.
  }
  for (const listener of listeners) listener();
}

/** Whether the navigation is folded to a rail of icons, and the switch for it. */
export function useNavigationWidth(): { isRail: boolean; toggle: () => void } {
  const isRail = useSyncExternalStore(
    subscribe,
    () => document.documentElement.dataset.nav === "rail",
    () => false,
  );
  return { isRail, toggle };
}

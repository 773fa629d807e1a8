"use client";

import { useEffect, useSyncExternalStore } from "react";

// A canvas that fills the screen, for a display on a wall: without the navigation, and larger where there is room.

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
const isOn = () => document.documentElement.dataset.wall !== undefined;

function set(on: boolean): void {
  const { documentElement: root } = document;
  if (on) root.dataset.wall = "";
  else delete root.dataset.wall;
  for (const listener of listeners) listener();
  // A browser that has no full screen (on a phone) shows the same in its window.
  if (on) void root.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) void document.exitFullscreen().catch(() => {});
}

/** Whether the page fills the screen, and the switch for it. Escape leads back, and so does another page. */
export function useWall(): { isWall: boolean; setWall: (on: boolean) => void } {
  const isWall = useSyncExternalStore(subscribe, isOn, () => false);
  useEffect(() => {
    if (!isWall) return;
    // The browser takes Escape for itself while it fills the screen, and tells only that it has ended.
    const onChange = () => !document.fullscreenElement && set(false);
    const onKeyDown = (event: KeyboardEvent) => event.key === "Escape" && !event.defaultPrevented && set(false);
    document.addEventListener("fullscreenchange", onChange);
    document.addEventListener("keydown", onKeyDown);
    return () => {
      document.removeEventListener("fullscreenchange", onChange);
      document.removeEventListener("keydown", onKeyDown);
    };
  }, [isWall]);
  useEffect(() => () => void (isOn() && set(false)), []);
  return { isWall, setWall: set };
}

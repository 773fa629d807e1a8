"use client";

import { useSyncExternalStore } from "react";

const QUERY = "(prefers-reduced-motion: reduce)";

let list: MediaQueryList | undefined;
/** Made once: each edge asks at each drawing. */
const query = (): MediaQueryList => {
  list ??= matchMedia(QUERY);
  return list;
};

function subscribe(onChange: () => void) {
  query().addEventListener("change", onChange);
  return () => query().removeEventListener("change", onChange);
}

/** True when the visitor asked for less motion: what moves is then not drawn at all. */
export const useReducedMotion = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => query().matches,
    () => false,
  );

/** How long something may take to move, in milliseconds: no time at all for a visitor who asked for less motion. */
export const motionMs = (wanted: number): number => (query().matches ? 0 : wanted);

"use client";

import { useReactFlow } from "@xyflow/react";
import { type RefObject, useEffect } from "react";
import { FIT } from "#components/canvas/fit.ts";

/** Below this width a sheet takes half of the canvas when it opens. */
const PHONE = "(max-width: 767px)";
/** Changes of the address bar are smaller than this, in CSS pixels. */
const NOTEWORTHY = 120;

/** On a phone, brings the workflow back into view when the canvas grows or shrinks much, as when the run sheet opens. */
export function useRefit(area: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  useEffect(() => {
    const element = area.current;
    if (!element) return;
    let height = element.clientHeight;
    const observer = new ResizeObserver(() => {
      const change = Math.abs(element.clientHeight - height);
      if (change < NOTEWORTHY) return;
      height = element.clientHeight;
      if (matchMedia(PHONE).matches) void flow.fitView(FIT);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [area, flow]);
}

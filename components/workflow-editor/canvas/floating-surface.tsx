"use client";

import { type ReactNode, useEffect, useRef } from "react";
import { cn } from "#components/ui/cn.ts";
import { surfaceStyle } from "#components/ui/menu-style.ts";

const WIDTH = 288;
const MARGIN = 12;

/** A surface on the canvas: at a point of it (pixels from its corner), or in its upper middle. A click elsewhere closes it. */
export function FloatingSurface({
  label,
  at,
  onClose,
  children,
}: {
  label: string;
  at: { x: number; y: number } | null;
  onClose: () => void;
  children: ReactNode;
}) {
  const surface = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const onPointerDown = (event: PointerEvent) => {
      if (event.target instanceof Node && !surface.current?.contains(event.target)) onClose();
    };
    document.addEventListener("pointerdown", onPointerDown, { capture: true });
    return () => document.removeEventListener("pointerdown", onPointerDown, { capture: true });
  }, [onClose]);
  const place = at
    ? {
        left: `clamp(${MARGIN}px, ${at.x}px, calc(100% - ${WIDTH + MARGIN}px))`,
        top: `clamp(${MARGIN}px, ${at.y}px, max(${MARGIN}px, calc(100% - 340px)))`,
      }
    : { left: `max(${MARGIN}px, calc(50% - ${WIDTH / 2}px))`, top: "12%" };
  return (
    <div
      ref={surface}
      role="dialog"
      aria-label={label}
      className={cn(surfaceStyle, "absolute max-w-[calc(100%-24px)]")}
      style={{ ...place, width: WIDTH }}
    >
      {children}
    </div>
  );
}

"use client";

import { type ReactFlowState, useStore, ViewportPortal } from "@xyflow/react";

/** Distance of the dots in canvas units at 100 %; from far it doubles, so that they stay dots. */
const GAP = 20;
const LEAST_GAP_ON_SCREEN = 12;
const DOT_ON_SCREEN = 1.5;

/** Which part of the canvas has dots: it changes when the view has moved by half a screen, not with every step. */
function dotted({ transform: [x, y, zoom], width, height }: ReactFlowState): string {
  const gap = GAP * 2 ** Math.max(0, Math.ceil(Math.log2(LEAST_GAP_ON_SCREEN / (GAP * zoom))));
  const part = (offset: number, size: number) => {
    const step = Math.max(1, Math.ceil(size / zoom / 2 / gap)) * gap;
    return [(Math.floor(-offset / zoom / step) - 2) * step, 7 * step];
  };
  return [...part(x, width), ...part(y, height), gap, zoom].join(" ");
}

/** The dotted paper. It is a part of what moves, so moving the view does not draw it anew. */
export function CanvasDots() {
  const [left, width, top, height, gap = GAP, zoom = 1] = useStore(dotted).split(" ").map(Number);
  const radius = DOT_ON_SCREEN / 2 / zoom;
  return (
    <ViewportPortal>
      <div
        aria-hidden
        className="canvas-dots pointer-events-none absolute"
        style={{
          ...{ left, top, width, height, zIndex: -1000 },
          backgroundImage: `radial-gradient(circle at ${gap / 2}px ${gap / 2}px, var(--line-strong) ${radius}px, transparent ${radius * 1.3}px)`,
          backgroundSize: `${gap}px ${gap}px`,
        }}
      />
    </ViewportPortal>
  );
}

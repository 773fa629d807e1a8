"use client";

import type { CSSProperties, ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

/** Heights where widgets stand one under the other: a chart keeps a shape that can be read, a text is as long as it is. */
const STACKED = {
  number: "h-42",
  chart: "h-80",
  table: "max-h-128 min-h-32",
  markdown: "min-h-24",
  text: "min-h-24",
} as const satisfies Record<Widget["type"], string>;

interface CanvasGridProps {
  widgets: readonly Widget[];
  children: (widget: Widget) => ReactNode;
}

/**
 * Widgets in their places: twelve columns where there is room for them, else one under the other in the order one reads. A row is
 * 3 rem high, with 1 rem between rows, so that the height of a widget is known before anything is in it. On a wall rows grow until
 * the screen is full, on paper until nothing in them is cut off.
 */
export function CanvasGrid({ widgets, children }: CanvasGridProps) {
  const ordered = widgets.toSorted((a, b) => a.layout.y - b.layout.y || a.layout.x - b.layout.x);
  return (
    <div className="canvas-paper @container in-data-wall:flex in-data-wall:flex-1 in-data-wall:flex-col">
      <div className="flex flex-col gap-4 @3xl:grid @3xl:auto-rows-[3rem] @3xl:grid-cols-12 print:@3xl:auto-rows-[minmax(3rem,auto)] in-data-wall:@3xl:flex-1 in-data-wall:@3xl:auto-rows-[minmax(3rem,1fr)]">
        {ordered.map((widget) => (
          <div
            key={widget.id}
            style={placeOf(widget.layout)}
            className={cn(
              "flex min-w-0 flex-col @3xl:col-[var(--x)/span_var(--w)] @3xl:row-[var(--y)/span_var(--h)] @3xl:h-auto @3xl:max-h-none @3xl:min-h-0 print:@3xl:min-h-auto in-data-wall:@3xl:[contain:size]",
              STACKED[widget.type],
            )}
          >
            {children(widget)}
          </div>
        ))}
      </div>
    </div>
  );
}

const placeOf = ({ x, y, w, h }: Widget["layout"]) => ({ "--x": x + 1, "--y": y + 1, "--w": w, "--h": h }) as CSSProperties;

"use client";

import type { ChartWidget } from "#components/canvases/widgets/chart-model.ts";
import type { Opening } from "#components/canvases/widgets/opening.ts";
import type { WidgetData } from "#server/features/canvases/schema.ts";

/** What every kind of chart is drawn from. */
export interface ChartBodyProps {
  widget: ChartWidget;
  name: string;
  data: WidgetData;
  onOpen: ((opened: Opening) => void) | undefined;
  isStatic: boolean;
}

/** Colours of the series, or of the slices, one after the other. */
export const seriesColour = (index: number): string => `var(--chart-${(index % 8) + 1})`;

export const Swatch = ({ index }: { index: number }) => (
  <span aria-hidden style={{ background: seriesColour(index) }} className="size-2.5 shrink-0 rounded-[2px] [print-color-adjust:exact]" />
);

"use client";

import { arc, pie } from "d3-shape";
import { useState } from "react";
import type { Point } from "#components/canvases/widgets/chart-model.ts";
import { opening } from "#components/canvases/widgets/opening.ts";
import { formatNumber, formatTime, formatValue, timeOf, useReader } from "#components/canvases/widgets/reader.ts";
import { type ChartBodyProps, Swatch, seriesColour } from "#components/canvases/widgets/series.tsx";
import { cn } from "#components/ui/cn.ts";

/** As many as there are colours; what is smaller goes into the last. */
const MOST_SLICES = 8;

interface Slice {
  name: string;
  y: number;
  /** null of those that were put together. */
  point: Point | null;
}

/** The largest first; the small ones beyond the colours are one, and what is not above zero has no share. */
export function slicesOf(points: readonly Point[], nameOf: (point: Point) => string): Slice[] {
  const all = points.flatMap((point) => (point.y !== null && point.y > 0 ? [{ name: nameOf(point), y: point.y, point }] : []));
  const sorted = all.sort((a, b) => b.y - a.y);
  if (sorted.length <= MOST_SLICES) return sorted;
  const rest = sorted.slice(MOST_SLICES - 1);
  const sum = rest.reduce((total, { y }) => total + y, 0);
  return [...sorted.slice(0, MOST_SLICES - 1), { name: `${rest.length} others`, y: sum, point: null }];
}

const shape = arc<{ startAngle: number; endAngle: number }>().innerRadius(30).outerRadius(50).padAngle(0.012);
const angles = pie<Slice>()
  .sort(null)
  .value(({ y }) => y);

/** Shares of a whole as a ring, with its sum in the middle and every share in words beside it. */
export function PieBody({ widget: { options }, name, data, onOpen, isStatic }: ChartBodyProps) {
  const reader = useReader();
  const [active, setActive] = useState<number | null>(null);
  const unit = options.unit ?? data.unit;
  const points = data.series?.[0]?.points ?? [];
  const slices = slicesOf(points, ({ x }) => {
    const time = timeOf(x);
    return time === undefined ? String(x) : formatTime(reader, time, String(x).length === 10 ? "date" : "minute");
  });
  const left = points.filter(({ y }) => y !== null && y <= 0).length;
  const total = slices.reduce((sum, { y }) => sum + y, 0);
  const part = (y: number) => `${formatNumber(reader, (y / total) * 100, { decimals: y / total < 0.1 ? 1 : 0 })}%`;
  const value = (y: number) => formatValue(reader, y, unit, { decimals: options.decimals });
  return (
    <figure aria-label={name} className="@container flex h-full min-h-0 flex-col print:h-auto print:flex-1">
      <div className="flex min-h-0 flex-1 print:min-h-auto items-center gap-5 @max-[17rem]:flex-col @max-[17rem]:gap-2">
        <div className="relative aspect-square h-full max-h-full max-w-[45%] shrink-0 self-center [container-type:inline-size] @max-[17rem]:h-1/2 @max-[17rem]:max-w-full">
          <svg aria-hidden viewBox="-50 -50 100 100" className="absolute inset-0 size-full">
            {angles(slices).map((angle, index) => (
              <path
                key={angle.data.name}
                d={shape(angle) ?? ""}
                fill={seriesColour(index)}
                opacity={active === null || active === index ? 1 : 0.45}
                onPointerEnter={() => setActive(index)}
                onPointerLeave={() => setActive(null)}
              />
            ))}
          </svg>
          <p
            title={value(total)}
            className="pointer-events-none absolute inset-[22%] flex items-center justify-center truncate font-semibold text-[clamp(0.75rem,11cqi,2rem)] tabular"
          >
            {formatNumber(reader, active === null ? total : (slices[active]?.y ?? total), { isCompact: true })}
          </p>
        </div>
        <ul
          {...(!isStatic && { tabIndex: 0 })}
          aria-label={`Shares of ${name}`}
          className="max-h-full min-w-0 max-w-96 flex-1 overflow-y-auto text-12 tabular print:max-h-none print:overflow-visible focus-visible:outline-offset-[-2px] @max-[17rem]:w-full"
        >
          {slices.map((slice, index) => {
            const { name: label, y, point } = slice;
            const opened = onOpen && point && opening(point, `${label}: ${value(y)}`);
            const line = (
              <>
                <Swatch index={index} />
                <span className="min-w-0 flex-1 truncate text-left">{label}</span>
                <span className="shrink-0 font-semibold">{value(y)}</span>
                <span className="w-11 shrink-0 text-right text-ink-faint">{part(y)}</span>
              </>
            );
            const look = "flex min-h-6 w-full items-center gap-2 rounded-sm px-1";
            return (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: two slices may have one name
                key={index}
                onPointerEnter={() => setActive(index)}
                onPointerLeave={() => setActive(null)}
              >
                {opened && onOpen ? (
                  <button type="button" onClick={() => onOpen(opened)} className={cn(look, "hover:bg-hover")}>
                    {line}
                  </button>
                ) : (
                  <span className={look}>{line}</span>
                )}
              </li>
            );
          })}
          {left > 0 && <li className="px-1 text-ink-faint">{left} not above zero, without a share</li>}
        </ul>
      </div>
    </figure>
  );
}

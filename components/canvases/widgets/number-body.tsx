"use client";

import { ArrowDownRight, ArrowRight, ArrowUpRight } from "lucide-react";
import { type Opening, opening } from "#components/canvases/widgets/opening.ts";
import { formatNumber, formatTime, formatValue, type Reader, timeOf, unitGap, useReader } from "#components/canvases/widgets/reader.ts";
import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";

interface NumberBodyProps {
  widget: Extract<Widget, { type: "number" }>;
  data: WidgetData & { value: number };
  onOpen: ((opened: Opening) => void) | undefined;
}

/** One number, as large as its widget allows, how it has changed, and the line that led to it. */
export function NumberBody({ widget: { options }, data, onOpen }: NumberBodyProps) {
  const reader = useReader();
  const { value, previous, completed_at, execution_id = null } = data;
  const unit = options?.unit ?? data.unit;
  const { decimals } = options ?? {};
  const points = data.series?.[0]?.points ?? [];
  const said = formatValue(reader, value, unit, { decimals });
  const opened =
    onOpen && completed_at && opening({ execution_id, completed_at }, `${formatTime(reader, completed_at, "minute")}: ${said}`, points);
  const figures = (
    <>
      {formatNumber(reader, value, { decimals })}
      {unit && (
        <span className="font-semibold text-[0.45em] text-ink-soft">
          {unitGap(unit)}
          {unit}
        </span>
      )}
    </>
  );
  const look =
    "max-w-full truncate font-semibold text-[clamp(1.75rem,min(15cqi,34cqb),10rem)] leading-[1.1] tracking-[-0.02em] tabular text-left";
  return (
    <div className="flex h-full min-h-0 flex-col [container-type:size]">
      {opened && onOpen ? (
        <button type="button" title={said} onClick={() => onOpen(opened)} className={`${look} -mx-1 w-fit rounded-md px-1 hover:bg-hover`}>
          {figures}
        </button>
      ) : (
        <p title={said} className={look}>
          {figures}
        </p>
      )}
      {previous !== undefined && <Change reader={reader} value={value} previous={previous} unit={unit} decimals={decimals} />}
      {points.length > 1 && <Sparkline points={points} />}
    </div>
  );
}

interface ChangeProps {
  reader: Reader;
  value: number;
  previous: number;
  unit: string | undefined;
  decimals: number | undefined;
}

/** Against the number before. Whether more is better nobody has said, so it has no colour. */
function Change({ reader, value, previous, unit, decimals }: ChangeProps) {
  const change = value - previous;
  const Icon = change > 0 ? ArrowUpRight : change < 0 ? ArrowDownRight : ArrowRight;
  const part = previous === 0 ? null : (change / Math.abs(previous)) * 100;
  const words =
    change === 0
      ? "No change"
      : part === null
        ? formatValue(reader, change, unit, { decimals, isSigned: true })
        : `${formatNumber(reader, part, { decimals: Math.abs(part) < 10 ? 1 : 0, isSigned: true })}%`;
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-14 tabular">
      <Icon aria-hidden className="size-3.5 shrink-0 text-ink-soft" />
      <span className="shrink-0 font-semibold">{words}</span>
      <span className="min-w-0 truncate text-ink-faint">
        {change === 0 ? "" : `from ${formatValue(reader, previous, unit, { decimals })}`}
      </span>
    </p>
  );
}

type Points = NonNullable<WidgetData["series"]>[number]["points"];

/** The way there in a line without an axis: its lowest and highest point touch the edges, and a gap stays one. */
export function Sparkline({ points }: { points: Points }) {
  const xs = points.map(({ x }, index) => timeOf(x) ?? (typeof x === "number" ? x : index));
  const ys = points.flatMap(({ y }) => (y === null ? [] : [y]));
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const place = (value: number, from: number, to: number) => (from === to ? 0.5 : (value - from) / (to - from));
  const parts: [number, number][][] = [[]];
  for (const [index, { y }] of points.entries()) {
    if (y === null) parts.push([]);
    else parts.at(-1)?.push([place(xs[index] ?? 0, left, right) * 100, 38 - place(y, low, high) * 36]);
  }
  const drawn = parts.filter((part) => part.length > 0);
  const text = ([x, y]: [number, number]) => `${x.toFixed(2)},${y.toFixed(2)}`;
  const lineOf = (part: [number, number][]) => `M${(part.length === 1 ? [...part, ...part] : part).map(text).join("L")}`;
  return (
    <svg aria-hidden viewBox="0 0 100 40" preserveAspectRatio="none" className="mt-2 min-h-0 w-full flex-1 overflow-visible">
      {drawn.map((part) => (
        <g key={text(part[0] ?? [0, 0])}>
          <path
            d={`${lineOf(part)}L${part.at(-1)?.[0].toFixed(2)},40L${part[0]?.[0].toFixed(2)},40Z`}
            fill="var(--chart-1)"
            opacity={0.1}
          />
          <path
            d={lineOf(part)}
            fill="none"
            stroke="var(--chart-1)"
            strokeWidth={1.75}
            strokeLinecap="round"
            strokeLinejoin="round"
            vectorEffect="non-scaling-stroke"
          />
        </g>
      ))}
    </svg>
  );
}

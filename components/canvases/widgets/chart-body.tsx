"use client";

import { area, line } from "d3-shape";
import { type KeyboardEvent, type MouseEvent, type PointerEvent, useMemo, useRef, useState } from "react";
import {
  type ChartModel,
  type ChartWidget,
  chartModel,
  nearestStop,
  type Stop,
  type Tick,
} from "#components/canvases/widgets/chart-model.ts";
import { opening } from "#components/canvases/widgets/opening.ts";
import { formatTime, formatValue, useReader } from "#components/canvases/widgets/reader.ts";
import { type ChartBodyProps, Swatch, seriesColour } from "#components/canvases/widgets/series.tsx";
import { cn } from "#components/ui/cn.ts";

const SHOWN = ["", "hidden @md:block", "hidden @2xl:block"] as const;

/**
 * A bar, line or area chart. The shapes are stretched to the plot's size, and words stand beside them as words: so nothing is measured, the server draws all of
 * it, and on paper and on a wall it is as sharp as on a screen.
 */
export function ChartBody({ widget, name, data, onOpen, isStatic }: ChartBodyProps) {
  const reader = useReader();
  const { options, layout } = widget;
  const model = useMemo(() => chartModel(options, data, reader, layout.h), [options, data, reader, layout.h]);
  const series = data.series ?? [];
  const [active, setActive] = useState<number | null>(null);
  const valueText = (y: number) => formatValue(reader, y, options.unit ?? data.unit, { decimals: options.decimals });
  const words = (stop: Stop) =>
    stop.values.length === 0
      ? `${stop.name}: no value`
      : `${stop.name}: ${stop.values.map(({ series: index, y }) => `${series.length > 1 ? `${series[index]?.name} ` : ""}${valueText(y)}`).join(", ")}`;
  const openAt = (index: number) => {
    const stop = model.stops[index];
    const value = stop?.values[0];
    const earlier = model.stops.slice(0, index).flatMap(({ values }) => values.map(({ point }) => point));
    const opened = stop && opening(value?.point, words(stop), earlier);
    if (opened) onOpen?.(opened);
  };
  const stop = active === null ? undefined : model.stops[active];
  return (
    <figure aria-label={name} className="@container flex h-full min-h-0 flex-col">
      {series.length > 1 && <Legend names={series.map((one) => one.name)} />}
      <div className="grid min-h-0 flex-1 grid-cols-[auto_minmax(0,1fr)] grid-rows-[minmax(0,1fr)_1.25rem] gap-x-2 pt-2 text-12 text-ink-faint tabular">
        <ValueLabels ticks={model.y} />
        <div className="relative min-h-0 min-w-0">
          <Shapes model={model} kind={options.kind} active={active} />
          {model.versions.map(({ at, version, created_at }) => (
            <span
              key={version}
              title={`Version ${version}, ${formatTime(reader, created_at, "minute")}`}
              style={{ left: `${at}%` }}
              className="absolute -top-2 bottom-0 border-line-control border-l border-dashed pl-1 text-12"
            >
              <span className="sr-only">Version </span>
              <span aria-hidden>v</span>
              {version}
            </span>
          ))}
          {!isStatic && (
            <Stops name={name} model={model} active={active} onMove={setActive} words={words} {...(onOpen && { onOpen: openAt })} />
          )}
          {stop && <Hint stop={stop} names={series.map((one) => one.name)} valueText={valueText} />}
        </div>
        <span />
        <NameLabels ticks={model.x} />
      </div>
    </figure>
  );
}

function Legend({ names }: { names: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-12 text-ink-soft">
      {names.map((name, index) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <Swatch index={index} />
          <span className="truncate">{name}</span>
        </li>
      ))}
    </ul>
  );
}

/** Beside the plot, as wide as the widest of them. */
function ValueLabels({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <div className="relative grid text-right">
      {ticks.map(({ at, text }) => (
        <span key={at} aria-hidden className="invisible col-start-1 row-start-1 h-0 whitespace-nowrap">
          {text}
        </span>
      ))}
      {ticks.map(({ at, text }) => (
        <span key={at} style={{ top: `${at}%` }} className="absolute right-0 -translate-y-1/2 whitespace-nowrap">
          {text}
        </span>
      ))}
    </div>
  );
}

/** Under the plot; those at its ends stay within it. */
function NameLabels({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <div className="relative [overflow-clip-margin:1.25rem] [overflow:clip]">
      {ticks.map(({ at, text, level, width }, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: several may have one text
          key={index}
          {...(width && { title: text })}
          style={{
            left: `${at}%`,
            ...(width && { maxWidth: `min(6rem, ${width}% - 0.5rem)` }),
            translate: at < 6 ? `${-at * 8}% 0` : at > 94 ? `${-50 - (at - 94) * 8}% 0` : "-50% 0",
          }}
          className={cn("absolute bottom-0 max-w-24 truncate whitespace-nowrap", SHOWN[level])}
        >
          {text}
        </span>
      ))}
    </div>
  );
}

const drawLine = line<{ at: number; top: number }>(
  ({ at }) => at,
  ({ top }) => top,
);
const drawArea = (base: number) =>
  area<{ at: number; top: number }>(
    ({ at }) => at,
    base,
    ({ top }) => top,
  );

/** More dots than this are a thicker line. */
const MOST_DOTS = 40;

function Shapes({ model, kind, active }: { model: ChartModel; kind: ChartWidget["options"]["kind"]; active: number | null }) {
  const { y, zero, bars, lines, stops } = model;
  const hasDots = stops.length <= MOST_DOTS;
  const stop = active === null ? undefined : stops[active];
  return (
    <svg aria-hidden viewBox="0 0 100 100" preserveAspectRatio="none" className="absolute inset-0 size-full overflow-visible">
      {y.map(({ at }) => (
        <line key={at} x1={0} x2={100} y1={at} y2={at} stroke="var(--line)" vectorEffect="non-scaling-stroke" />
      ))}
      {stop && kind !== "bar" && (
        <line x1={stop.at} x2={stop.at} y1={0} y2={100} stroke="var(--line-control)" vectorEffect="non-scaling-stroke" />
      )}
      {bars.map(({ series, stop: place, at, width, top, height }) => (
        <rect
          key={`${place} ${series}`}
          x={at}
          y={top}
          width={width}
          height={height}
          fill={seriesColour(series)}
          opacity={active === null || active === place ? 1 : 0.55}
        />
      ))}
      {lines.map((parts, series) =>
        parts.map((part) => (
          <g key={`${series.toString()} ${part[0]?.at}`}>
            {kind === "area" && <path d={drawArea(zero ?? 100)(part) ?? ""} fill={seriesColour(series)} opacity={0.16} />}
            <path
              d={drawLine(part) ?? ""}
              fill="none"
              stroke={seriesColour(series)}
              strokeWidth={2}
              strokeLinejoin="round"
              strokeLinecap="round"
              vectorEffect="non-scaling-stroke"
            />
            {(hasDots || part.length === 1) && (
              <path d={dots(part)} stroke={seriesColour(series)} strokeWidth={5} strokeLinecap="round" vectorEffect="non-scaling-stroke" />
            )}
          </g>
        )),
      )}
      {kind !== "bar" &&
        stop?.values.map(({ series, top }) => (
          <g key={series} strokeLinecap="round">
            <path d={dots([{ at: stop.at, top }])} stroke="var(--surface)" strokeWidth={13} vectorEffect="non-scaling-stroke" />
            <path d={dots([{ at: stop.at, top }])} stroke={seriesColour(series)} strokeWidth={9} vectorEffect="non-scaling-stroke" />
          </g>
        ))}
      {zero !== null && <line x1={0} x2={100} y1={zero} y2={zero} stroke="var(--line-control)" vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}

/** Lines of no length with round ends: circles, however the plot is stretched. */
const dots = (places: readonly { at: number; top: number }[]): string =>
  places.map(({ at, top }) => `M${at.toFixed(2)},${top.toFixed(2)}h0`).join("");

interface StopsProps {
  name: string;
  model: ChartModel;
  active: number | null;
  onMove: (index: number | null) => void;
  words: (stop: Stop) => string;
  onOpen?: (index: number) => void;
}

/** What the pointer and the keyboard move along: a slider over the points, whose value is read out. */
function Stops({ name, model: { stops }, active, onMove, words, onOpen }: StopsProps) {
  const pressed = useRef<number | null>(null);
  const last = stops.length - 1;
  const current = active ?? last;
  const stop = stops[current];
  const under = ({ currentTarget, clientX }: MouseEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return nearestStop(stops, ((clientX - left) / width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = KEYS[event.key]?.(current, last);
    if (next !== undefined) onMove(Math.max(0, Math.min(last, next)));
    else if ((event.key === "Enter" || event.key === " ") && onOpen) onOpen(current);
    else if (event.key === "Escape" && active !== null) onMove(null);
    else return;
    event.preventDefault();
  };
  const onPointerDown = (event: PointerEvent) => {
    // A finger has to see what it is about to open: the first tap shows it.
    const isShown = active !== null && active === under(event);
    pressed.current = event.pointerType === "mouse" || isShown ? under(event) : null;
    onMove(under(event));
  };
  if (last < 0) return null;
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={`Points of ${name}`}
      aria-valuemin={1}
      aria-valuemax={stops.length}
      aria-valuenow={current + 1}
      aria-valuetext={stop && words(stop)}
      onKeyDown={onKeyDown}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && onMove(current)}
      onBlur={() => onMove(null)}
      onPointerMove={(event) => event.pointerType === "mouse" && onMove(under(event))}
      onPointerLeave={(event) => event.pointerType === "mouse" && !event.currentTarget.matches(":focus-visible") && onMove(null)}
      onPointerDown={onPointerDown}
      onClick={() => pressed.current !== null && onOpen?.(pressed.current)}
      className={cn("absolute -inset-x-1 inset-y-0 touch-pan-y rounded-sm print:hidden", onOpen && "cursor-pointer")}
    />
  );
}

const KEYS: Record<string, (current: number, last: number) => number> = {
  ArrowRight: (current) => current + 1,
  ArrowUp: (current) => current + 1,
  ArrowLeft: (current) => current - 1,
  ArrowDown: (current) => current - 1,
  PageUp: (current) => current + 10,
  PageDown: (current) => current - 10,
  Home: () => 0,
  End: (_, last) => last,
};

/** What is at the stop, beside it; at the side where there is room. */
function Hint({
  stop: { at, name, values },
  names,
  valueText,
}: {
  stop: Stop;
  names: readonly string[];
  valueText: (y: number) => string;
}) {
  const top = Math.min(...values.map((value) => value.top), 70);
  return (
    <div
      aria-hidden
      style={{ left: `${at}%`, top: `${Math.max(0, top)}%`, translate: at > 55 ? "calc(-100% - 12px) -50%" : "12px -50%" }}
      className="pointer-events-none absolute z-2 w-max max-w-60 rounded-md border border-line-strong bg-raised px-2.5 py-1.5 text-12 text-ink shadow-md print:hidden"
    >
      <p className="text-ink-soft">{name}</p>
      {values.length === 0 && <p className="text-ink-faint">No value</p>}
      {values.map(({ series, y }) => (
        <p key={series} className="flex items-center gap-1.5">
          {names.length > 1 && (
            <>
              <Swatch index={series} />
              <span className="min-w-0 truncate text-ink-soft">{names[series]}</span>
            </>
          )}
          <span className={cn("font-semibold text-14", names.length > 1 && "ml-auto pl-2")}>{valueText(y)}</span>
        </p>
      ))}
    </div>
  );
}

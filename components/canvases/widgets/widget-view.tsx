"use client";

import { CircleAlert, Clock, Table2, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { NumberBody } from "#components/canvases/widgets/number-body.tsx";
import { type Opening, opening } from "#components/canvases/widgets/opening.ts";
import { formatTime, rangeWords, timeOf, useReader } from "#components/canvases/widgets/reader.ts";
import { Scrolls, TableBody } from "#components/canvases/widgets/table-body.tsx";
import { formatCount } from "#components/format.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import type { Widget, WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";

// Only where there is a chart: with its library each is as large as everything else here.
const ChartBody = loadedOnUse(() => import("#components/canvases/widgets/chart-body.tsx").then((module) => module.ChartBody));
const PieBody = loadedOnUse(() => import("#components/canvases/widgets/pie-body.tsx").then((module) => module.PieBody));

const KINDS = { number: "Number", chart: "Chart", table: "Table", markdown: "Report", text: "Text" } as const satisfies Record<
  Widget["type"],
  string
>;

export interface WidgetViewProps {
  widget: Widget;
  /** undefined while it is on its way. */
  data: WidgetData | undefined;
  /** In place of the widget's own: of which time the data is. */
  range?: WidgetRange | undefined;
  /** Opens the trail of a value; left out, nothing in it can be opened. */
  onOpen?: ((opened: Opening) => void) | undefined;
  /** Reads another Output of the workflow in place of one that it does not have any more. */
  onRelabel?: ((label: string | null) => void) | undefined;
  /** A picture of it: nothing in it can be clicked or has the focus. */
  isStatic?: boolean;
  /** Its menu, at the right of the title. */
  actions?: ReactNode;
}

/** One widget in its frame: what it shows, or in the same place and size why it shows nothing, and under it how old that is. */
export function WidgetView({ widget, data, range, onOpen, onRelabel, isStatic = false, actions }: WidgetViewProps) {
  const [isTable, setTable] = useState(false);
  const name = widget.title || KINDS[widget.type];
  const open = isStatic ? undefined : onOpen;
  const hasPoints = data?.status === "ok" && (data.series?.some(({ points }) => points.length > 0) ?? false);
  return (
    <section
      aria-label={name}
      aria-busy={data === undefined}
      className="group/widget relative flex h-full min-h-0 w-full min-w-0 flex-1 break-inside-avoid flex-col overflow-hidden rounded-lg border bg-surface print:min-h-auto print:overflow-visible"
    >
      <header className="flex min-h-10 shrink-0 items-center gap-1 pr-2 pl-4">
        <h2 title={widget.title} className="min-w-0 flex-1 truncate font-semibold text-14">
          {widget.title}
        </h2>
        {!isStatic && (
          <div className="flex items-center text-ink-faint print:hidden">
            {hasPoints && (
              <IconButton
                label="Show table"
                size="sm"
                icon={<Table2 />}
                isPressed={isTable}
                onClick={() => setTable(!isTable)}
                className={cn(QUIET, isTable && "opacity-100")}
              />
            )}
            {actions}
          </div>
        )}
      </header>
      <div className="flex min-h-0 flex-1 flex-col px-4 print:min-h-auto [&>*]:min-h-0 print:[&>*]:min-h-auto">
        {data === undefined ? (
          <Loading type={widget.type} />
        ) : data.status === "ok" ? (
          <Body widget={widget} name={name} data={data} onOpen={open} isStatic={isStatic} isTable={isTable && hasPoints} />
        ) : (
          <Nothing widget={widget} data={data} isStatic={isStatic} onRelabel={onRelabel} />
        )}
      </div>
      <Foot range={rangeWords(widget, range)} data={data} onOpen={open} isStatic={isStatic} />
    </section>
  );
}

/** Of controls that come with the pointer or the focus; where fingers point they are always there. */
export const QUIET =
  "opacity-0 transition-opacity focus-visible:opacity-100 group-focus-within/widget:opacity-100 group-hover/widget:opacity-100 data-[state=open]:opacity-100 pointer-coarse:opacity-100";

interface BodyProps {
  widget: Widget;
  name: string;
  data: WidgetData;
  onOpen: ((opened: Opening) => void) | undefined;
  isStatic: boolean;
  isTable: boolean;
}

function Body({ widget, name, data, onOpen, isStatic, isTable }: BodyProps) {
  if (isTable) return <PointsTable widget={widget} name={name} data={data} onOpen={onOpen} />;
  if (widget.type === "number" && data.value !== undefined)
    return <NumberBody widget={widget} data={{ ...data, value: data.value }} onOpen={onOpen} />;
  if (widget.type === "chart") {
    const Chart = widget.options.kind === "pie" ? PieBody : ChartBody;
    return <Chart widget={widget} name={name} data={data} onOpen={onOpen} isStatic={isStatic} />;
  }
  if (data.rows) return <TableBody label={name} columns={data.columns ?? []} rows={data.rows} onOpen={onOpen} isStatic={isStatic} />;
  if (data.text !== undefined)
    return (
      <Scrolls label={name} isStatic={isStatic} className="h-full">
        {widget.type === "markdown" ? (
          <Markdown>{data.text}</Markdown>
        ) : (
          <p className="whitespace-pre-wrap break-words text-14 leading-[1.6]">{data.text}</p>
        )}
      </Scrolls>
    );
  return null;
}

/** What a chart shows, in rows. */
function PointsTable({ widget, name, data: { series = [] }, onOpen }: Omit<BodyProps, "isStatic" | "isTable">) {
  const unit = widget.type === "chart" || widget.type === "number" ? widget.options?.unit : undefined;
  const head = (text: string) => `${text}${unit ? ` (${unit})` : ""}`;
  const first = series.length > 1 ? ["Series"] : [];
  const rows = series.flatMap((one) =>
    one.points.map(({ x, y, ...from }) => ({ cells: [...(series.length > 1 ? [one.name] : []), x, y], ...from })),
  );
  const what = series.some(({ points }) => points.some(({ x }) => timeOf(x) !== undefined)) ? "When" : "Name";
  return <TableBody label={`${name}, as a table`} columns={[...first, what, head("Value")]} rows={rows} onOpen={onOpen} />;
}

/** Of the size of what will be there. */
function Loading({ type }: { type: Widget["type"] }) {
  return (
    <div role="status" className="flex h-full flex-col gap-3 pt-1 pb-2">
      <span className="sr-only">Loading</span>
      {type === "number" ? (
        <Skeleton className="h-10 w-2/5" />
      ) : type === "chart" ? (
        <Skeleton className="h-full w-full" />
      ) : (
        ["w-full", "w-4/5", "w-11/12", "w-3/5"].map((width) => <Skeleton key={width} className={width} />)
      )}
    </div>
  );
}

interface NothingProps {
  widget: Widget;
  data: WidgetData;
  isStatic: boolean;
  onRelabel: WidgetViewProps["onRelabel"];
}

/** Why there is nothing to show, and what to do. */
function Nothing({ widget, data: { status, problem, suggestion, filling }, isStatic, onRelabel }: NothingProps) {
  const isProblem = status === "problem";
  const text =
    problem ?? (filling ? "Past runs are being read." : "No run has given a value yet. It comes with the next one that completes.");
  return (
    <Scrolls
      label={`About ${widget.title || "this widget"}`}
      isStatic={isStatic}
      className="flex flex-1 flex-col items-start gap-2 text-14"
    >
      <p className={cn("flex gap-2 [overflow-wrap:anywhere]", isProblem ? "text-ink" : "text-ink-faint")}>
        {isProblem && <CircleAlert aria-hidden className="mt-0.75 size-3.5 shrink-0 text-failed" />}
        {text}
      </p>
      {onRelabel && suggestion !== undefined && !isStatic && (
        <Button size="sm" onClick={() => onRelabel(suggestion === "" ? null : suggestion)}>
          {suggestion === "" ? "Use the run’s output" : `Use “${suggestion}”`}
        </Button>
      )}
    </Scrolls>
  );
}

interface FootProps {
  range: string | null;
  data: WidgetData | undefined;
  onOpen: ((opened: Opening) => void) | undefined;
  isStatic: boolean;
}

/** Of which time it is, how old, why nothing newer comes, what was left out, and how far its past has been read. */
/** How long ago; on paper when. */
function Age({ value }: { value: string }) {
  const reader = useReader();
  return (
    <>
      <Time value={value} className="print:hidden" />
      <span className="hidden print:inline">{formatTime(reader, value, "minute")}</span>
    </>
  );
}

function Foot({ range, data, onOpen, isStatic }: FootProps) {
  const { status, problem, completed_at, execution_id = null, filling, old, series }: Partial<WidgetData> = data ?? {};
  const opened = onOpen && completed_at && opening({ execution_id, completed_at }, "Latest value", series?.[0]?.points);
  return (
    <footer className="flex min-h-8 shrink-0 flex-col justify-center gap-1 px-4 pb-2 text-12 text-ink-faint">
      {status === "ok" && problem && (
        <p title={problem} className="flex gap-1.5 text-waiting">
          <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          <span className="line-clamp-2">{problem}</span>
        </p>
      )}
      {old && <Old old={old} isStatic={isStatic || !onOpen} />}
      {filling && <Filling {...filling} />}
      {(range || completed_at) && (
        <p className="flex min-h-6 flex-wrap items-center gap-x-2">
          {range && <span>{range}</span>}
          {range && completed_at && <span aria-hidden>·</span>}
          {completed_at &&
            (opened && onOpen ? (
              <button
                type="button"
                onClick={() => onOpen(opened)}
                className="-mx-1 inline-flex min-h-6 w-fit items-center rounded-sm px-1 hover:bg-hover hover:text-ink"
              >
                <span className="sr-only">Where this comes from, </span>
                <Age value={completed_at} />
              </button>
            ) : (
              <Age value={completed_at} />
            ))}
        </p>
      )}
    </footer>
  );
}

function Old({ old: { reason, since, execution_id }, isStatic }: { old: NonNullable<WidgetData["old"]>; isStatic: boolean }) {
  const reader = useReader();
  const date = formatTime(reader, since, "date");
  const words =
    reason === "disabled"
      ? `Nothing newer comes: the workflow has been off since ${date}.`
      : reason === "deleted"
        ? `Nothing newer comes: the workflow was deleted on ${date}.`
        : `Nothing newer comes: its runs have failed since ${date}.`;
  return (
    <p className="flex gap-1.5 text-waiting">
      <Clock aria-hidden className="mt-0.5 size-3.5 shrink-0" />
      <span className="line-clamp-2">
        {words}{" "}
        {execution_id && !isStatic && (
          <Link href={`/runs/${execution_id}`} className="underline underline-offset-2">
            Latest failure
          </Link>
        )}
      </span>
    </p>
  );
}

function Filling({ done, total }: { done: number; total: number }) {
  return (
    <div className="flex items-center gap-2 tabular">
      <progress aria-label="Past runs read" value={done} max={Math.max(1, total)} className="h-1 w-16 accent-thread" />
      <span>
        {formatCount(done)} of {formatCount(total)} past runs read
      </span>
    </div>
  );
}

import { cn } from "#components/ui/cn.ts";
import type { GRID_COLUMNS, WidgetPlace } from "#server/features/canvases/schema.ts";

/** The schema says how many; its type alone comes along, since a list of canvases needs no schema. */
const COLUMNS: typeof GRID_COLUMNS = 12;
/** Units of the picture for a column and a row of the grid, and of the space between widgets. */
const COLUMN = 10;
const ROW = 6;
const GAP = 1.2;
const HEIGHT = 60;

/** A small picture of a canvas: what kind of widget stands where. */
export function CanvasPicture({ widgets, className }: { widgets: readonly WidgetPlace[]; className?: string }) {
  return (
    <svg
      aria-hidden
      viewBox={`-2 -2 ${COLUMNS * COLUMN + 4} ${HEIGHT}`}
      preserveAspectRatio="xMidYMin slice"
      className={cn("aspect-2/1 w-full", className)}
    >
      {widgets.map(({ type, kind, layout: { x, y, w, h } }, index) => {
        const [width, height] = [w * COLUMN - GAP, h * ROW - GAP];
        return (
          <g key={`widget ${index.toString()}`} transform={`translate(${x * COLUMN + GAP / 2} ${y * ROW + GAP / 2})`}>
            <rect width={width} height={height} rx={1.5} className="fill-raised stroke-line-strong" strokeWidth={0.4} />
            <svg
              aria-hidden
              x={3}
              y={3}
              width={Math.max(1, width - 6)}
              height={Math.max(1, height - 6)}
              viewBox="0 0 40 20"
              preserveAspectRatio="none"
            >
              <Sketch type={type} kind={kind} />
            </svg>
          </g>
        );
      })}
    </svg>
  );
}

const LINE = "M0 16 L8 11 L16 13 L24 5 L32 8 L40 2";

/** What a kind of widget looks like from far away, in a box of 40 by 20. */
function Sketch({ type, kind }: Pick<WidgetPlace, "type" | "kind">) {
  if (type === "number") return <rect x={0} y={4} width={18} height={9} rx={1} className="fill-thread" />;
  if (type !== "chart") {
    const widths = type === "table" ? [40, 40, 40, 40] : [40, 34, 38, 22];
    return widths.map((width, line) => (
      <rect
        key={`line ${line.toString()}`}
        y={1 + line * 5}
        width={width}
        height={1.6}
        className={line === 0 ? "fill-ink-faint" : "fill-line-strong"}
      />
    ));
  }
  switch (kind) {
    case "line":
      return <path d={LINE} className="fill-none stroke-thread" strokeWidth={1.4} vectorEffect="non-scaling-stroke" />;
    case "area":
      return <path d={`${LINE} L40 20 L0 20 Z`} className="fill-thread opacity-60" />;
    case "pie":
      return (
        <>
          <ellipse cx={20} cy={10} rx={9} ry={9} className="fill-thread opacity-50" />
          <path d="M20 10 L20 1 A9 9 0 0 1 28 14 Z" className="fill-thread" />
        </>
      );
    default:
      return [9, 14, 6, 17, 11].map((height, bar) => (
        <rect key={`bar ${bar.toString()}`} x={bar * 8} y={20 - height} width={6} height={height} className="fill-thread" />
      ));
  }
}

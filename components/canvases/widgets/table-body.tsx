"use client";

import { ArrowDown, ArrowUp } from "lucide-react";
import { useState } from "react";
import { type Opening, opening } from "#components/canvases/widgets/opening.ts";
import { formatNumber, formatTime, type Reader, timeOf, useReader } from "#components/canvases/widgets/reader.ts";
import { cn } from "#components/ui/cn.ts";
import type { WidgetData } from "#server/features/canvases/schema.ts";

type Row = NonNullable<WidgetData["rows"]>[number];
type Cell = Row["cells"][number];

interface TableBodyProps {
  label: string;
  columns: readonly string[];
  rows: readonly Row[];
  onOpen?: ((opened: Opening) => void) | undefined;
  isStatic?: boolean;
}

interface Order {
  column: number;
  isFalling: boolean;
}

/** Rows that can be put in order; figures stand under each other, and its head stays in sight. */
export function TableBody({ label, columns, rows, onOpen, isStatic = false }: TableBodyProps) {
  const reader = useReader();
  const [order, setOrder] = useState<Order | null>(null);
  const isNumeric = columns.map((_, index) => {
    const cells = rows.map(({ cells }) => cells[index] ?? null).filter((cell) => cell !== null);
    return cells.length > 0 && cells.every((cell) => typeof cell === "number");
  });
  const shown = order
    ? rows.toSorted((a, b) => compareCells(a.cells[order.column] ?? null, b.cells[order.column] ?? null, order.isFalling))
    : rows;
  // Figures begin with the largest, words with the first; the third click brings back the order they came in.
  const nextOrder = (column: number): Order | null => {
    const isFallingFirst = isNumeric[column] ?? false;
    if (order?.column !== column) return { column, isFalling: isFallingFirst };
    return order.isFalling === isFallingFirst ? { column, isFalling: !isFallingFirst } : null;
  };
  return (
    <Scrolls label={label} isStatic={isStatic} className="-mx-4 h-full">
      <table aria-label={label} className="w-full border-separate border-spacing-0 text-13">
        <thead>
          <tr>
            {columns.map((column, index) => {
              const current = order?.column === index ? order : null;
              const Arrow = current?.isFalling ? ArrowDown : ArrowUp;
              return (
                <th
                  // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                  key={index}
                  scope="col"
                  {...(current && { "aria-sort": current.isFalling ? ("descending" as const) : ("ascending" as const) })}
                  className={cn(
                    "sticky top-0 z-1 whitespace-nowrap border-b bg-surface px-2 py-0.5 text-left font-semibold text-12 text-ink-faint first:pl-4 last:pr-4",
                    isNumeric[index] && "text-right",
                  )}
                >
                  {isStatic ? (
                    column
                  ) : (
                    <button
                      type="button"
                      onClick={() => setOrder(nextOrder(index))}
                      className={cn(
                        "inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink focus-visible:outline-offset-0",
                        isNumeric[index] && "flex-row-reverse",
                        current && "text-ink",
                      )}
                    >
                      {column}
                      <Arrow aria-hidden className={cn("size-3", !current && "invisible")} />
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, place) => {
            const first = cellText(reader, row.cells[0] ?? null);
            const opened = onOpen && opening(row, first);
            return (
              <tr
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id, and several may be of one run
                key={place}
                {...(opened && { onClick: () => onOpen?.(opened) })}
                className={cn("[&:last-child>td]:border-0", opened && "cursor-pointer hover:bg-hover")}
              >
                {columns.map((_, index) => {
                  const cell = row.cells[index] ?? null;
                  const text = cellText(reader, cell);
                  return (
                    <td
                      // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                      key={index}
                      className={cn(
                        "max-w-80 border-b px-2 py-1.5 align-top first:pl-4 last:pr-4 [overflow-wrap:anywhere]",
                        isNumeric[index] ? "whitespace-nowrap text-right tabular" : "min-w-16",
                        cell === null && "text-ink-faint",
                      )}
                    >
                      {opened && index === 0 ? (
                        <button type="button" className="rounded-sm text-left text-inherit hover:underline">
                          {text}
                        </button>
                      ) : (
                        text
                      )}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scrolls>
  );
}

/** A cell in words; nothing is a dash. */
function cellText(reader: Reader, cell: Cell): string {
  if (cell === null || cell === "") return "–";
  if (typeof cell === "number") return formatNumber(reader, cell);
  if (typeof cell === "boolean") return cell ? "Yes" : "No";
  const time = timeOf(cell);
  if (time === undefined) return cell;
  // A lone date is the same day everywhere.
  return cell.length === 10 ? formatTime(reader, time, "date", "UTC") : formatTime(reader, time, "minute");
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** Less than 0 when `a` comes first. Cells with nothing in them come last, whichever way the others go. */
export function compareCells(a: Cell, b: Cell, isFalling: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
  return isFalling ? -order : order;
}

interface ScrollsProps {
  label: string;
  isStatic: boolean;
  className?: string;
  children: React.ReactNode;
}

/** A box that scrolls by itself, by keyboard too. On paper it is as high as what is in it. */
export function Scrolls({ label, isStatic, className, children }: ScrollsProps) {
  const look = cn("min-h-0 overflow-auto focus-visible:outline-offset-[-2px]", className, "print:h-auto print:overflow-visible");
  if (isStatic) return <div className={cn(look, "overflow-hidden")}>{children}</div>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for text
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div role="group" aria-label={label} tabIndex={0} className={look}>
      {children}
    </div>
  );
}

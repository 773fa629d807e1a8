import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { compareCells } from "#components/canvases/widgets/table-body.tsx";
import { WidgetView } from "#components/canvases/widgets/widget-view.tsx";
import { TooltipProvider } from "#components/ui/tooltip.tsx";
import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";

const place = { id: "w", title: "Revenue", workflow_id: "f", output_label: "Total", layout: { x: 0, y: 0, w: 4, h: 3 } };
const number: Widget = { ...place, type: "number", options: { unit: "€", decimals: 2 } };
const table: Widget = { ...place, type: "table" };
const AT = "2026-11-21T12:00:00.000Z";
const from = { execution_id: "e2", completed_at: AT };

/** What is seen of a widget, as text; each element's on a line of its own. */
const shown = (widget: Widget, data: Partial<WidgetData> | undefined, more: { isStatic?: boolean; canOpen?: boolean } = {}): string =>
  renderToStaticMarkup(
    <TooltipProvider>
      <WidgetView
        widget={widget}
        data={data && { widget_id: "w", status: "ok", ...data }}
        isStatic={more.isStatic ?? false}
        onOpen={more.canOpen === false ? undefined : () => {}}
        onRelabel={() => {}}
      />
    </TooltipProvider>,
  );
const words = (html: string): string =>
  html
    .replace(/<[^>]*>/g, "|")
    .replace(/\|+/g, "|")
    .replaceAll("\u00a0", " ");

test("a number stands in the reader's figures with its unit, and beside it how it has changed", () => {
  expect(words(shown(number, { value: 12480.5, previous: 11000, ...from }))).toContain("|12,480.50| €|+13%|from 11,000.00 €|");
  expect(words(shown(number, { value: 5, previous: 5 }))).toContain("No change");
  expect(words(shown(number, { value: 5, previous: 0 }))).toContain("+5.00 €");
  expect(words(shown({ ...number, options: { unit: "%" } }, { value: 0.1 + 0.2 }))).toContain("|0.300|%|");
});

test("a number opens the run that it comes from, and nothing opens where that may not be seen", () => {
  const button = /<button type="button" title="12\.00 €"/;
  expect(shown(number, { value: 12, ...from }).replaceAll("\u00a0", " ")).toMatch(button);
  for (const html of [
    shown(number, { value: 12, ...from }, { canOpen: false }),
    shown(number, { value: 12, execution_id: null, completed_at: AT }),
    shown(number, { value: 12, ...from }, { isStatic: true }),
  ])
    expect(html).not.toContain("<button");
});

test("a widget is a region named by its title, or by its kind when it has none", () => {
  expect(shown(number, { value: 1 })).toContain('<section aria-label="Revenue"');
  expect(shown({ ...number, title: "" }, { value: 1 })).toContain('<section aria-label="Number"');
});

test("each state is told in the widget's own place", () => {
  expect(shown(number, undefined)).toMatch(/aria-busy="true".*Loading/s);
  expect(words(shown(number, { status: "empty" }))).toContain("No run has given a value yet.");
  expect(words(shown(number, { status: "empty", filling: { done: 1200, total: 50_000 } }))).toContain("|1,200 of 50,000 past runs read|");
  const lost = { status: "problem", problem: "The workflow has no Output “Total” any more." } as const;
  expect(words(shown(number, { ...lost, suggestion: "Sum" }))).toMatch(/has no Output “Total”.*\|Use “Sum”\|/);
  expect(words(shown(number, { ...lost, suggestion: "" }))).toContain("|Use the run’s output|");
  expect(words(shown(number, { value: 1, problem: "3 values are no numbers." }))).toContain("|3 values are no numbers.|");
});

test("it says why nothing newer comes", () => {
  const old = (reason: "disabled" | "failing" | "deleted", execution_id: string | null = null) =>
    words(shown(number, { value: 1, old: { reason, since: AT, execution_id } }));
  expect(old("disabled")).toContain("the workflow has been off since 21 Nov 2026");
  expect(old("deleted")).toContain("the workflow was deleted on 21 Nov 2026");
  expect(old("failing", "e9")).toMatch(/its runs have failed since 21 Nov 2026.*\|Latest failure\|/);
});

test("cells are written by their kind, and figures stand at the right", () => {
  const data = {
    columns: ["Who", "Orders", "New"],
    rows: [
      { cells: ["Ada", 1200, true], ...from },
      { cells: ["2026-11-20", null, false], ...from },
    ],
  };
  const html = shown(table, data);
  expect(words(html)).toContain("|Ada|1,200|Yes|20 Nov 2026|–|No|");
  expect(html.match(/text-right/g)?.length).toBe(3);
});

test("rows are put in order by numbers as numbers and words as people read them, and nothing comes last", () => {
  const sorted = (cells: (string | number | null)[], isFalling = false) => cells.toSorted((a, b) => compareCells(a, b, isFalling));
  expect(sorted([10, null, 9])).toEqual([9, 10, null]);
  expect(sorted([10, null, 9], true)).toEqual([10, 9, null]);
  expect(sorted(["b", "item 10", "A", "item 9"])).toEqual(["A", "b", "item 9", "item 10"]);
});

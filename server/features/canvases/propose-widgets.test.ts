import { expect, test } from "vitest";
import { labelOf, type ProposedWidget, proposeWidgets } from "#server/features/canvases/propose-widgets.ts";
import { Widget } from "#server/features/canvases/schema.ts";

const propose = (value: unknown, label = "Result") => proposeWidgets(typeof value === "string" ? value : JSON.stringify(value), label);
/** What is proposed, in a few words each. */
const words = (proposals: ProposedWidget[]) =>
  proposals.map(({ type, title, options }) =>
    [type, options && "kind" in options ? options.kind : "", options?.over ?? "", `“${title}”`].filter(Boolean).join(" "),
  );

const orders = [
  { customer: "Ada", total_eur: 12.5, note: null },
  { customer: "Grace", total_eur: 7, note: "gift" },
];
const months = ["2026-01", "2026-02", "2026-03"].map((month, index) => ({ month, revenue: index * 10, orders: index }));

test("a number is a number first, then its course over the runs", () => {
  const [number, trend, average] = propose("42");
  expect(words(propose(42))).toEqual([
    "number “Result”",
    "chart line runs “Result by run”",
    "number runs “Result, average of 30 days”",
    "table runs “Result of each run”",
  ]);
  expect(number?.options).toEqual({});
  expect(trend?.options).toMatchObject({ over: "runs", y: "$" });
  expect(average?.options).toMatchObject({ aggregate: "avg", decimals: 1 });
});

test("of an object each number has its name, its unit and its fraction", () => {
  const proposals = propose({ totalRevenue: 1204.5, refunds_percent: 3, meta: { duration_ms: 12 } });
  expect(words(proposals).filter((each) => each.startsWith("number"))).toEqual([
    "number “Total revenue”",
    "number “Refunds percent”",
    "number “Meta: duration ms”",
    "number runs “Total revenue, average of 30 days”",
  ]);
  expect(proposals[0]?.options).toEqual({ path: "$.totalRevenue", decimals: 2 });
  expect(proposals.find(({ title }) => title === "Refunds percent")?.options).toEqual({ path: "$.refunds_percent", unit: "%" });
  expect(proposals.find(({ title }) => title === "Meta: duration ms")?.options).toEqual({ path: "$.meta.duration_ms", unit: "ms" });
});

test("of a share below one no digit is cut off", () => {
  expect(propose({ conversion: 0.044 })[0]?.options).toEqual({ path: "$.conversion" });
});

test("a list of objects with times is a line, with names bars and a pie, and always a table", () => {
  expect(words(propose(months)).slice(0, 2)).toEqual(["chart line “Revenue by month”", "table “Result”"]);
  expect(propose(months)[0]?.options).toMatchObject({ x: "$[*].month", y: "$[*].revenue" });
  const sales = propose({ orders });
  expect(words(sales)).toEqual(["chart bar “Total eur by customer”", "table “Orders”", "chart pie “Total eur by customer”"]);
  expect(sales[0]?.options).toMatchObject({ kind: "bar", x: "$.orders[*].customer", y: "$.orders[*].total_eur", unit: "€", decimals: 2 });
  expect(sales[1]?.options).toMatchObject({
    path: "$.orders",
    columns: [
      { label: "Customer", path: "$.customer" },
      { label: "Total eur", path: "$.total_eur" },
      { label: "Note", path: "$.note" },
    ],
  });
});

test("rows without numbers, or whose names meet twice, make no chart", () => {
  expect(words(propose([{ who: "Ada" }, { who: "Grace" }]))).toEqual(["table “Result”"]);
  expect(
    words(
      propose([
        { team: "A", id: 1 },
        { team: "A", id: 2 },
      ]),
    ),
  ).toEqual(["table “Result”"]);
});

test("Markdown is drawn as such, other text as it is", () => {
  expect(words(propose("# News\n\n- one\n- two"))[0]).toBe("markdown “Result”");
  expect(words(propose("All is well."))).toEqual(["text “Result”", "table runs “Result of each run”"]);
  expect(words(propose("2 * 3 is 6, and a_b_c is a name. ".repeat(9)))).toEqual(["text “Result”"]);
  expect(words(propose({ score: 7, summary: "**Good** work" }))).toContain("markdown “Summary”");
});

test("an output without anything in it gives nothing", () => {
  for (const nothing of ["", "  ", "{}", "[]", "null", "[[]]"]) expect(propose(nothing)).toEqual([]);
});

test("keys that are no names stand in brackets, and a path that would be too long is left out", () => {
  const [first] = propose({ "it's \\ here": 1 });
  expect(first?.options).toEqual({ path: "$['it\\'s \\\\ here']" });
  expect(propose({ ["x".repeat(400)]: 1 })).toEqual([]);
});

test("whatever an output gives, at most six widgets that the schema takes", () => {
  const wide = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`n${index}`, index]));
  let deep: unknown = 1;
  for (let depth = 0; depth < 100; depth++) deep = { deep, list: months };
  for (const value of [
    wide,
    deep,
    months,
    { orders, ...wide, report: "# A\n\n**b**" },
    Array(10_000).fill(orders[0]),
    true,
    "x".repeat(100_000),
  ]) {
    const proposals = propose(value);
    expect(proposals.length).toBeLessThanOrEqual(6);
    for (const [index, { size, ...widget }] of proposals.entries())
      Widget.parse({ ...widget, id: `w${index}`, workflow_id: "w", output_label: null, layout: { x: 0, y: 0, ...size } });
  }
});

test("a text that is made to be slow is looked at like any other", () => {
  for (const part of ["[", "\n", "|a|\n", "**", "- ", "1."]) expect(propose(`x${part.repeat(500_000)}`)[0]?.title).toBe("Result");
});

test("keys are written as people would", () => {
  expect(["total_revenue", "totalRevenue", "URL", "per-day.count", "ärger"].map(labelOf)).toEqual([
    "Total revenue",
    "Total revenue",
    "URL",
    "Per day count",
    "Ärger",
  ]);
});

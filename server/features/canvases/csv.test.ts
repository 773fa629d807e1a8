import { expect, test } from "vitest";
import { widgetCsv } from "#server/features/canvases/csv.ts";

const from = { execution_id: "x", completed_at: "2026-11-21T08:00:00.000Z" };
const FROM = "x,2026-11-21T08:00:00.000Z";

test("fields are quoted as RFC 4180 says, and a text is no formula", () => {
  const cells = ['say "hi"', "a,b", "two\nlines", "=1+1", "+1", "-cmd", "@x", "\tx", -5, true, null, "plain"];
  const columns = cells.map((_, index) => `c${index}`);
  expect(widgetCsv({ widget_id: "w", status: "ok", columns, rows: [{ cells, ...from }] }, false)).toBe(
    `${columns.join(",")},execution_id,completed_at\r\n"say ""hi""","a,b","two\nlines",'=1+1,'+1,'-cmd,'@x,'\tx,-5,true,,plain,${FROM}\r\n`,
  );
});

test("a text becomes no formula either where spreadsheets part fields at semicolons, tabs or line ends, whatever the quotes", () => {
  const csv = (text: string) => widgetCsv({ widget_id: "w", status: "ok", text, ...from }, false).split("\r\n")[1];
  for (const [text, field] of [
    ["a;=1+1", "a;'=1+1"],
    ["a\t@x", "a\t'@x"],
    ["a\n=1", `"a\n'=1"`],
    ['a;"=1;b', `"a;'""=1;b"`],
    ["＝1+1", "'＝1+1"],
    ["a; b = c - d", "a; b = c - d"],
  ])
    expect(csv(text ?? "")).toBe(`${field},${FROM}`);
});

test.each(["\u{feff}", "\u{200b}", "\u{2060}\u{feff}", "\u{ad}"])(
  "a formula sign after %j at the start of a field is neutralised",
  (invisible) => {
    const csv = (text: string) => widgetCsv({ widget_id: "w", status: "ok", text, ...from }, false).split("\r\n")[1];
    expect(csv(`${invisible}=1+1`)).toBe(`'${invisible}=1+1,${FROM}`);
    expect(csv(`a;${invisible}=1+1`)).toBe(`a;'${invisible}=1+1,${FROM}`);
    expect(csv(`${invisible}plain`)).toBe(`${invisible}plain,${FROM}`);
  },
);

test("every kind has its lines, and a gap is empty", () => {
  const points = [
    { x: "May", y: 1.5, ...from },
    { x: "June", y: null, ...from },
  ];
  const chart = { widget_id: "w", status: "ok", series: [{ name: "revenue", points }] } as const;
  expect(widgetCsv(chart as never, false)).toBe(`name,revenue,execution_id,completed_at\r\nMay,1.5,${FROM}\r\nJune,,${FROM}\r\n`); // cast: readonly
  expect(widgetCsv({ widget_id: "w", status: "ok", value: 3, ...from }, false)).toBe(`value,execution_id,completed_at\r\n3,${FROM}\r\n`);
  expect(widgetCsv({ widget_id: "w", status: "ok", text: "=a", ...from }, false)).toBe(`text,execution_id,completed_at\r\n'=a,${FROM}\r\n`);
  expect(widgetCsv({ widget_id: "w", status: "empty" }, false)).toBe("value,execution_id,completed_at\r\n");
});

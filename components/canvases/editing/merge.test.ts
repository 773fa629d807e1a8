import { expect, test } from "vitest";
import { mergeWidgets } from "#components/canvases/editing/merge.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

const widget = (id: string, y: number, more: Partial<Extract<Widget, { type: "text" }>> = {}): Widget => ({
  ...{ id, type: "text", title: id, workflow_id: "w", output_label: null, layout: { x: 0, y, w: 6, h: 4 } },
  ...more,
});
const [a, b] = [widget("a", 0), widget("b", 4)];

test("what each of two added, changed and deleted is there", () => {
  const mine = [widget("a", 0, { title: "Mine" }), b, widget("c", 8)];
  const theirs = [a, widget("d", 12)];
  expect(mergeWidgets([a, b], mine, theirs).map(({ id, title }) => `${id} ${title}`)).toEqual(["a Mine", "d d", "c c"]);
});

test("a place that one changed and a title that the other did are both kept", () => {
  const place = { x: 6, y: 0, w: 6, h: 4 };
  expect(mergeWidgets([a], [widget("a", 0, { title: "Mine" })], [widget("a", 0, { layout: place })])).toEqual([
    widget("a", 0, { title: "Mine", layout: place }),
  ]);
  expect(mergeWidgets([a], [widget("a", 0, { layout: place })], [widget("a", 0, { title: "Theirs" })])).toEqual([
    widget("a", 0, { title: "Theirs", layout: place }),
  ]);
});

test("of what both changed mine stays, and what one changed while the other deleted it", () => {
  expect(mergeWidgets([a], [widget("a", 0, { title: "Mine" })], [widget("a", 0, { title: "Theirs" })])[0]?.title).toBe("Mine");
  expect(mergeWidgets([a], [], [widget("a", 0, { title: "Theirs" })])[0]?.title).toBe("Theirs");
  expect(mergeWidgets([a], [widget("a", 0, { title: "Mine" })], [])[0]?.title).toBe("Mine");
  expect(mergeWidgets([a], [a], [])).toEqual([]);
});

test("two that were put in one place come to stand one below the other", () => {
  const merged = mergeWidgets([], [widget("mine", 0)], [widget("theirs", 0)]);
  expect(merged.map(({ id, layout }) => `${id} ${layout.y}`)).toEqual(["theirs 0", "mine 4"]);
});

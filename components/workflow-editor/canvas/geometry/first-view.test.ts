import { expect, test } from "vitest";
import { beginningOf, moveTowards, outOfView } from "#components/workflow-editor/canvas/geometry/first-view.ts";

const card = (left: number, top: number, type = "agentNode") => ({ left, top, right: left + 250, bottom: top + 120, type });
/** As the view shows it. */
const seen = <Box extends { left: number; top: number; right: number; bottom: number }>(
  box: Box,
  { x, y, zoom }: { x: number; y: number; zoom: number },
) => ({ ...box, left: box.left * zoom + x, right: box.right * zoom + x, top: box.top * zoom + y, bottom: box.bottom * zoom + y });

const views = [
  { width: 1392, height: 820 },
  { width: 390, height: 700 },
  { width: 2512, height: 1360 },
];

/** Numbers from 0 to 1, the same each time. */
function numbers(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test("whatever a workflow looks like, one can read it at first, and sees where it begins", () => {
  const next = numbers(7);
  let large = 0;
  for (let round = 0; round < 300; round++) {
    const count = 1 + Math.floor(next() * 60);
    const boxes = [card(next() * 900 - 300, next() * 900 - 300, "triggerNode")];
    while (boxes.length < count) boxes.push(card(next() * 6000 - 500, next() * 2500 - 800));
    for (const view of views) {
      const first = beginningOf(boxes, view);
      if (!first) continue;
      large++;
      expect(first.zoom).toBeGreaterThanOrEqual(0.65);
      expect(first.zoom).toBeLessThanOrEqual(0.75);
      const [trigger] = boxes.map((box) => seen(box, first));
      expect(trigger?.left).toBeGreaterThanOrEqual(48 - 1e-6);
      expect(trigger?.right).toBeLessThanOrEqual(view.width);
      expect(trigger?.top).toBeGreaterThanOrEqual(0);
      expect(trigger?.bottom).toBeLessThanOrEqual(view.height);
    }
  }
  expect(large).toBeGreaterThan(300);
});

test("what fits is shown whole", () => {
  expect(beginningOf([card(0, 0, "triggerNode"), card(330, 0)], { width: 1392, height: 820 })).toBeNull();
  expect(beginningOf([], { width: 1392, height: 820 })).toBeNull();
});

test("what lies out of view is counted, onward before back, and step by step all of it comes into view", () => {
  const view = { width: 1392, height: 820 };
  const row = [card(0, 0, "triggerNode"), ...Array.from({ length: 14 }, (_, index) => card(330 * (index + 1), 90 * (index % 5)))];
  let at = beginningOf(row, view);
  if (!at) throw new Error("the row fits");
  const shown = new Set<number>();
  for (let steps = 0; steps < 10; steps++) {
    const boxes = row.map((box) => seen(box, at as NonNullable<typeof at>));
    boxes.forEach((box, index) => {
      if (box.left >= 0 && box.right <= view.width) shown.add(index);
    });
    const out = outOfView(boxes, view);
    if (out?.side !== "right") break;
    const by = moveTowards(out.side, boxes, view);
    at = { ...at, x: at.x + by.x, y: at.y + by.y };
  }
  expect(shown.size).toBe(row.length);
  expect(outOfView([{ left: -300, right: -50, top: 0, bottom: 10 }], view)).toEqual({ side: "left", count: 1 });
  expect(outOfView([{ left: -300, right: 50, top: 0, bottom: 10 }], view)).toBeNull();
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { arrange, freePlace, type Layout, moved, type Placed, resized, settle, without } from "#components/canvases/editing/arrange.ts";

const at = (id: string, x: number, y: number, w = 6, h = 4): Placed => ({ id, layout: { x, y, w, h } });
/** Places in a few characters: `a 0,0 6x4`. */
const say = (items: readonly Placed[]) => items.map(({ id, layout: { x, y, w, h } }) => `${id} ${x},${y} ${w}x${h}`);
const move = (items: Placed[], id: string, dx: number, dy: number) => {
  const item = items.find((each) => each.id === id);
  if (!item) throw new Error(`no ${id}`);
  return say(arrange(items, id, moved(item.layout, dx, dy)));
};

const pair = [at("a", 0, 0), at("b", 6, 0)];

test("two of a size change places, beside each other and one below the other", () => {
  expect(move(pair, "a", 6, 0)).toEqual(["a 6,0 6x4", "b 0,0 6x4"]);
  expect(move([at("a", 0, 0), at("b", 0, 4)], "a", 0, 4)).toEqual(["a 0,4 6x4", "b 0,0 6x4"]);
});

test("what is in the way and fits nowhere else moves down, and what is below it too", () => {
  expect(move([...pair, at("c", 6, 4)], "a", 3, 0)).toEqual(["a 3,0 6x4", "b 6,4 6x4", "c 6,8 6x4"]);
});

test("what is not in the way stays, also beside a hole", () => {
  expect(move([at("a", 0, 0), at("b", 6, 0), at("c", 0, 4)], "a", 0, 8)).toEqual(["a 0,8 6x4", "b 6,0 6x4", "c 0,4 6x4"]);
});

test("rows without anything in them are closed, so that nothing can be moved out of sight", () => {
  expect(move([at("a", 0, 0, 12), at("b", 0, 4, 12)], "b", 0, 40)).toEqual(["a 0,0 12x4", "b 0,4 12x4"]);
  expect(say(without([at("a", 0, 0, 12), at("b", 0, 4, 12)], "a"))).toEqual(["b 0,0 12x4"]);
});

test("the edges of the grid hold", () => {
  expect(moved({ x: 1, y: 0, w: 6, h: 4 }, -5, -5)).toEqual({ x: 0, y: 0, w: 6, h: 4 });
  expect(moved({ x: 1, y: 0, w: 6, h: 4 }, 50, 0)).toEqual({ x: 6, y: 0, w: 6, h: 4 });
  expect(resized({ x: 4, y: 0, w: 6, h: 4 }, 50, -50)).toEqual({ x: 4, y: 0, w: 8, h: 2 });
});

test("something grows at the cost of the place of others, never of their size", () => {
  expect(say(arrange(pair, "a", resized({ x: 0, y: 0, w: 6, h: 4 }, 2, 1)))).toEqual(["a 0,0 8x5", "b 6,5 6x4"]);
});

test("a new one takes the first hole that it fits into, else a row below", () => {
  expect(freePlace(pair, { w: 3, h: 2 })).toEqual({ x: 0, y: 4, w: 3, h: 2 });
  expect(freePlace([at("a", 0, 0, 8)], { w: 3, h: 2 })).toEqual({ x: 8, y: 0, w: 3, h: 2 });
  expect(freePlace([], { w: 3, h: 2 })).toEqual({ x: 0, y: 0, w: 3, h: 2 });
});

const layouts = fc.record({ x: fc.nat(11), y: fc.nat(30), w: fc.integer({ min: 1, max: 12 }), h: fc.integer({ min: 1, max: 8 }) });
const placed = fc
  .array(layouts, { minLength: 1, maxLength: 20 })
  .map((all) =>
    settle(all.map((layout: Layout, index): Placed => ({ id: `w${index}`, layout: { ...layout, x: Math.min(layout.x, 12 - layout.w) } }))),
  );
const isClean = (items: readonly Placed[]) =>
  items.every((item, index) => {
    const { x, y, w, h } = item.layout;
    const apart = items.slice(index + 1).every(({ layout: b }) => !(x < b.x + b.w && b.x < x + w && y < b.y + b.h && b.y < y + h));
    return apart && x >= 0 && y >= 0 && x + w <= 12;
  });

test("wherever one is put, all stay in the grid and none over another, and only places change", () => {
  fc.assert(
    fc.property(placed, fc.nat(), layouts, (items, which, layout) => {
      const target = items[which % items.length] as Placed;
      const after = arrange(items, target.id, layout);
      expect(isClean(items) && isClean(after)).toBe(true);
      for (const [index, item] of after.entries()) {
        expect(item.id).toBe(items[index]?.id);
        if (item.id !== target.id) expect([item.layout.w, item.layout.h]).toEqual([items[index]?.layout.w, items[index]?.layout.h]);
      }
    }),
  );
});

import { expect, test } from "vitest";
import { type Leave, Places } from "#server/jobs/inngest/places.ts";

/** Who has come in so far. */
function doorman(places: Places) {
  const inside: string[] = [];
  const leaves = new Map<string, Leave>();
  const enter = (name: string, signal?: AbortSignal) =>
    places.enter(name[0] ?? "", signal).then((leave) => {
      inside.push(name);
      leaves.set(name, leave);
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { inside, enter, settled, leave: (name: string) => leaves.get(name)?.() };
}

test("each key and all together have their limit, and whoever waits comes in by turns", async () => {
  const { inside, enter, settled, leave } = doorman(new Places({ all: 3, each: 2 }));
  for (const name of ["a1", "a2", "a3", "b1", "b2", "a4"]) void enter(name);
  await settled();
  expect(inside).toEqual(["a1", "a2", "b1"]);
  leave("b1");
  await settled();
  expect(inside).toEqual(["a1", "a2", "b1", "b2"]); // a3 came before, but of its key there are two
  leave("a1");
  leave("a1"); // once is enough
  await settled();
  expect(inside).toEqual(["a1", "a2", "b1", "b2", "a3"]);
});

test("nobody overtakes who waits for the same", async () => {
  const places = new Places({ all: 9, each: 1 });
  const { inside, enter, settled, leave } = doorman(places);
  void enter("a1");
  void enter("a2");
  await settled();
  expect(places.tryEnter("a")).toBeUndefined();
  expect(places.tryEnter("b")).toBeDefined();
  leave("a1");
  expect(places.tryEnter("a")).toBeUndefined();
  await settled();
  expect(inside).toEqual(["a1", "a2"]);
});

test("a wait that is given up takes no place", async () => {
  const places = new Places({ all: 1, each: 1 });
  const { inside, enter, settled, leave } = doorman(places);
  const gone = new AbortController();
  void enter("a1");
  void enter("a2", gone.signal);
  gone.abort();
  await settled();
  expect(inside).toEqual(["a1", "a2"]);
  leave("a2");
  expect(places.tryEnter("a")).toBeUndefined();
  leave("a1");
  expect(places.tryEnter("a")).toBeDefined();
  await enter("a3", AbortSignal.abort());
  leave("a3");
  expect(places.tryEnter("a")).toBeUndefined();
});

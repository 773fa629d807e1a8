import { expect, test } from "vitest";
import { toFlow } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { bodiesOf, framesOf } from "#server/workflow/layout/loop-frames.ts";
import { tidyPositions } from "#server/workflow/layout/tidy.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, x = 0, y = 0) => ({ id, type: `${type}Node`, position: { x, y }, data: { label: id } });
const edge = (from: string, target: string) => {
  const [source = "", sourceHandle] = from.split(".");
  return { id: `${from}-${target}`, source, target, ...(sourceHandle && { sourceHandle }) };
};
/** The document with all of it where tidying puts it. */
function tidied(graph: Graph) {
  const document = toFlow(graph);
  const places = tidyPositions(document);
  return { ...document, nodes: document.nodes.map((one) => ({ ...one, position: places.get(one.id) ?? one.position })) };
}
const placesOf = ({ nodes }: ReturnType<typeof tidied>) => new Map(nodes.map(({ id, position }) => [id, position]));

/** Numbers from 0 to 1, the same at each run. */
function dice(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test("what follows the first way out stands above what follows the second, whatever else the graph is like", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = dice(seed);
    const graph: Graph = { nodes: [node("start", "trigger")], edges: [] };
    const forks: [string, string[], string[]][] = [];
    const leaves: string[] = [];
    const grow = (from: string, depth: number): string[] => {
      const id = `n${graph.nodes.length}`;
      const isFork = depth < 5 && random() < 0.5;
      const type = isFork ? (random() < 0.5 ? "branch" : "humanLoop") : "agent";
      graph.nodes.push(node(id, type));
      graph.edges.push(edge(from, id));
      if (!isFork) {
        const onward = depth < 6 && random() < 0.6 ? grow(id, depth + 1) : [];
        if (onward.length === 0) leaves.push(id);
        return [id, ...onward];
      }
      const ways = type === "branch" ? ["true", "false"] : ["approved", "rejected"];
      // As people draw them: now one first, now the other.
      const order = random() < 0.5 ? [0, 1] : [1, 0];
      const groups: string[][] = [[], []];
      for (const way of order) groups[way] = grow(`${id}.${ways[way]}`, depth + 1);
      forks.push([id, groups[0] ?? [], groups[1] ?? []]);
      return [id, ...groups.flat()];
    };
    grow("start", 0);
    // Some meet again, which is nobody's own.
    if (seed % 2) {
      graph.nodes.push(node("join", "output"));
      for (const leaf of leaves.filter(() => random() < 0.5)) graph.edges.push(edge(leaf, "join"));
    }
    const places = placesOf(tidied(graph));
    for (const [fork, upper, lower] of forks) {
      // By column: the lowest of the one way against the uppermost of the other.
      for (const above of upper)
        for (const below of lower) {
          const [a, b] = [places.get(above), places.get(below)];
          if (a && b && a.x === b.x) expect(a.y, `seed ${seed}, ${fork}: ${above} above ${below}`).toBeLessThan(b.y);
        }
      const [a, b] = [places.get(upper[0] ?? ""), places.get(lower[0] ?? "")];
      expect(a && b && a.y < b.y, `seed ${seed}, first after ${fork}`).toBe(true);
    }
  }
});

test("a note moves along with what it lies beside, and covers nothing", () => {
  const graph: Graph = {
    nodes: [
      node("Start", "trigger", 0, 0),
      node("Each", "loop", 900, 700),
      node("Ask", "agent", 1000, 780),
      node("All", "output", 200, 900),
      { ...node("Above", "note", 1000, 540), width: 250, height: 100 },
      { ...node("Under", "note", 180, 1030), width: 300, height: 500 },
      { ...node("Inside", "note", 1020, 800), width: 320, height: 200 },
      { ...node("Far", "note", -4000, -3000), width: 320, height: 200 },
    ],
    edges: [edge("Start", "Each"), edge("Each.body", "Ask"), edge("Each.done", "All")],
  };
  const document = tidied(graph);
  const places = placesOf(document);
  const frame = framesOf(document, bodiesOf(document), new Set()).get("Each");
  const by = (id: string, to: { x: number; y: number } | undefined) => {
    const at = places.get(id);
    return at && to && { x: at.x - to.x, y: at.y - to.y };
  };
  // The frame began at 900, 700.
  expect(by("Above", frame)).toEqual({ x: 100, y: -160 });
  expect(by("Under", places.get("All"))).toEqual({ x: -20, y: 130 });
  expect(by("Far", places.get("Start"))).toEqual({ x: -4000, y: -3000 });
  const boxes = document.nodes
    .filter(({ id }) => id !== "Ask")
    .map((one) => ({ width: 250, height: 120, ...one, ...one.position, ...(one.id === "Each" && frame) }));
  for (const a of boxes)
    for (const b of boxes) {
      const isApart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      expect(a === b || isApart, `${a.id} ${b.id}`).toBe(true);
    }
});

test("a very long chain is set out in rows, a shorter one in one", () => {
  const chain = (count: number): Graph => ({
    nodes: [node("n0", "trigger"), ...Array.from({ length: count - 1 }, (_, index) => node(`n${index + 1}`, "agent"))],
    edges: Array.from({ length: count - 1 }, (_, index) => edge(`n${index}`, `n${index + 1}`)),
  });
  const rowsOf = (count: number) => Map.groupBy(tidied(chain(count)).nodes, ({ position }) => position.y);
  expect(rowsOf(24).size).toBe(1);
  const rows = [...rowsOf(60).values()];
  expect(rows.map(({ length }) => length)).toEqual([12, 12, 12, 12, 12]);
  expect(rows.every(([first]) => first?.position.x === rows[0]?.[0]?.position.x)).toBe(true);
  expect(rows.flat().map(({ id }) => id)).toEqual(chain(60).nodes.map(({ id }) => id));
});

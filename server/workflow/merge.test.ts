import { describe, expect, test } from "vitest";
import { times } from "#server/testing/times.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { findFaults, labelOf } from "#server/workflow/graph.ts";
import { mergeGraphs } from "#server/workflow/merge.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

const trigger: GraphNode = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };
const node = (id: string, data: Record<string, unknown> = {}, more: object = {}): GraphNode => ({
  id,
  type: "outputNode",
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
  ...more,
});
const edge = (source: string, target: string, more: object = {}): GraphEdge => ({ id: `${source}-${target}`, source, target, ...more });
const graph = (nodes: GraphNode[], edges: GraphEdge[] = []): Graph => ({ nodes: [trigger, ...nodes], edges });
const chain = (...ids: string[]) => ["t", ...ids].slice(1).map((id, index) => edge(["t", ...ids][index] ?? "", id));
/** t → a → b → c */
const base = graph([node("a"), node("b"), node("c")], chain("a", "b", "c"));
const withData = (from: Graph, id: string, data: Record<string, unknown>): Graph => ({
  ...from,
  nodes: from.nodes.map((one) => (one.id === id ? { ...one, data: { ...one.data, ...data } } : one)),
});
const without = (from: Graph, id: string): Graph => ({
  nodes: from.nodes.filter((one) => one.id !== id),
  edges: from.edges.filter(({ source, target }) => source !== id && target !== id),
});
const ids = ({ nodes, edges }: { nodes: { id: string }[]; edges: { id: string }[] }) => [...nodes, ...edges].map(({ id }) => id).sort();
const valueIn = ({ nodes }: Graph, id: string) => nodes.find((one) => one.id === id)?.data.value;

test("edits of different nodes, and what each side adds, come together and are told apart", () => {
  const mine = withData(base, "a", { value: "mine" });
  const theirs = withData(base, "b", { value: "theirs" });
  theirs.nodes = [...theirs.nodes, node("d")];
  theirs.edges = [...theirs.edges, edge("c", "d")];
  const merge = mergeGraphs(base, mine, theirs);
  expect(merge.isClean).toBe(true);
  expect([valueIn(merge.graph, "a"), valueIn(merge.graph, "b")]).toEqual(["mine", "theirs"]);
  expect([ids(merge.mine), ids(merge.theirs), ids(merge.both)]).toEqual([["a"], ["b", "c-d", "d"], []]);
  expect(findFaults(merge.graph)).toEqual([]);
});

test("what both did alike is no clash, and is nobody's difference", () => {
  const both = without(withData(base, "a", { value: "same" }), "c");
  both.nodes.push(node("d"));
  const theirs = { ...both, edges: [...both.edges, { ...edge("b", "d"), id: "their-id" }] };
  const merge = mergeGraphs(base, { ...both, edges: [...both.edges, edge("b", "d")] }, theirs);
  expect(merge).toMatchObject({ isClean: true, mine: { nodes: [], edges: [] }, theirs: { nodes: [], edges: [] } });
  expect(ids(merge.graph)).toEqual(["a", "a-b", "b", "b-d", "d", "t", "t-a"]);
});

test("different fields of one node count as changed by both, and mine is kept whole", () => {
  const merge = mergeGraphs(base, withData(base, "a", { value: "mine" }), withData(base, "a", { disabled: true }));
  expect(merge).toMatchObject({ isClean: false, mine: { nodes: [] }, theirs: { nodes: [] } });
  expect(merge.both.nodes.map(({ id, fields }) => [id, fields.map(({ field }) => field)])).toEqual([["a", ["value", "disabled"]]]);
  expect(merge.graph.nodes.find(({ id }) => id === "a")?.data).toEqual({ label: "a", value: "mine" });
});

test("moving a node goes with what the other side does to it", () => {
  const at = (x: number) => ({ ...base, nodes: base.nodes.map((one) => (one.id === "a" ? { ...one, position: { x, y: 0 } } : one)) });
  const edited = withData(base, "a", { value: "new" });
  for (const [mine, theirs] of [
    [at(50), edited],
    [edited, at(50)],
  ] as const) {
    const merge = mergeGraphs(base, mine, theirs);
    expect(merge.isClean).toBe(true);
    expect(merge.graph.nodes.find(({ id }) => id === "a")).toMatchObject({ position: { x: 50 }, data: { value: "new" } });
  }
  const moved = mergeGraphs(base, at(50), at(90));
  expect(moved.isClean).toBe(true);
  expect(moved.graph.nodes.find(({ id }) => id === "a")?.position.x).toBe(50);
  expect(ids(mergeGraphs(base, at(50), without(base, "a")).graph)).not.toContain("a");
});

describe("deletes", () => {
  test("of what the other side left alone go through", () => {
    const merge = mergeGraphs(base, without(base, "c"), withData(base, "a", { value: "x" }));
    expect(merge.isClean).toBe(true);
    expect(ids(merge.graph)).toEqual(["a", "a-b", "b", "t", "t-a"]);
  });

  test("against edits are clashes: mine stays deleted, or stays with its connections", () => {
    const [edited, deleted] = [withData(base, "b", { value: "x" }), without(base, "b")];
    const gone = mergeGraphs(base, deleted, edited);
    expect([gone.isClean, ids(gone.both)]).toEqual([false, ["b"]]);
    expect(ids(gone.graph)).toEqual(["a", "c", "t", "t-a"]);
    const kept = mergeGraphs(base, edited, deleted);
    expect([kept.isClean, ids(kept.both)]).toEqual([false, ["b"]]);
    expect(ids(kept.graph)).toEqual(ids(base));
    expect(valueIn(kept.graph, "b")).toBe("x");
  });

  test("of a node that the other side connects to are clashes, and no edge hangs loose", () => {
    const longer = { nodes: [...base.nodes, node("d")], edges: [...base.edges, edge("c", "d")] };
    const gone = mergeGraphs(base, without(base, "c"), longer);
    expect([gone.isClean, ids(gone.both)]).toEqual([false, ["c", "c-d"]]);
    expect(ids(gone.graph)).toEqual(["a", "a-b", "b", "d", "t", "t-a"]);
    const kept = mergeGraphs(base, longer, without(base, "c"));
    expect(kept.isClean).toBe(false);
    expect(ids(kept.graph)).toEqual(ids(longer));
  });
});

describe("connections", () => {
  test("both put something into the same connection: a clash that loses nothing", () => {
    const put = (id: string) => ({
      nodes: [...base.nodes, node(id)],
      edges: [...base.edges.filter((one) => one.id !== "a-b"), edge("a", id), edge(id, "b")],
    });
    const merge = mergeGraphs(base, put("m"), put("n"));
    expect([merge.isClean, ids(merge.both)]).toEqual([false, ["a-m", "a-n"]]);
    expect(ids(merge.graph)).toEqual([...ids(base).filter((id) => id !== "a-b"), "a-m", "a-n", "m", "m-b", "n", "n-b"].sort());
    expect(findFaults(merge.graph)).toEqual([]);
  });

  test("that lead round only together are clashes, and mine stays", () => {
    const loose = graph([node("a"), node("b")], [edge("t", "a"), edge("t", "b")]);
    const merge = mergeGraphs(
      loose,
      { ...loose, edges: [...loose.edges, edge("a", "b")] },
      { ...loose, edges: [...loose.edges, edge("b", "a")] },
    );
    expect([merge.isClean, ids(merge.both)]).toEqual([false, ["b-a"]]);
    expect(ids(merge.graph)).toContain("a-b");
    expect(findFaults(merge.graph)).toEqual([]);
  });

  test("changed by both, or changed and deleted, are clashes", () => {
    const to = (target: string) => ({ ...base, edges: base.edges.map((one) => (one.id === "b-c" ? { ...one, source: target } : one)) });
    const none = { ...base, edges: base.edges.filter((one) => one.id !== "b-c") };
    for (const [mine, theirs, source] of [
      [to("a"), to("t"), "a"],
      [to("a"), none, "a"],
      [none, to("a"), undefined],
    ] as const) {
      const merge = mergeGraphs(base, mine, theirs);
      expect([merge.isClean, ids(merge.both)]).toEqual([false, ["b-c"]]);
      expect(merge.graph.edges.find(({ id }) => id === "b-c")?.source).toBe(source);
    }
  });
});

describe("names", () => {
  test("given by both are clashes; theirs gets a number, and what they wrote follows it", () => {
    const mine = graph([...base.nodes.slice(1), node("m", { label: "Answer" })], [...base.edges, edge("c", "m")]);
    const added = [node("n", { label: "Answer" }), node("r", { label: "Reader", value: "{{Answer.output}}" })];
    const theirs = graph([...base.nodes.slice(1), ...added], [...base.edges, edge("c", "n"), edge("n", "r")]);
    const merge = mergeGraphs(base, mine, theirs);
    expect([merge.isClean, ids(merge.both)]).toEqual([false, ["m", "n"]]);
    expect(merge.graph.nodes.map(labelOf)).toEqual(["Start", "a", "b", "c", "Answer", "Answer 2", "Reader"]);
    expect(valueIn(merge.graph, "r")).toBe("{{Answer 2.output}}");
    expect(findFaults(merge.graph)).toEqual([]);
  });

  test("notes may be called alike", () => {
    const noted = (id: string) =>
      graph([...base.nodes.slice(1), node(id, { label: "Note", content: id }, { type: "noteNode" })], base.edges);
    expect(mergeGraphs(base, noted("m"), noted("n")).isClean).toBe(true);
  });

  test("of renamed nodes are followed by what the other side wrote, and following one is no edit", () => {
    const reads = withData(base, "b", { value: "{{a.output}}" });
    const mine = withData(withData(reads, "a", { label: "First" }), "b", { value: "{{First.output}}" });
    const theirs = withData(withData(reads, "b", { value: "So: {{a.output}}" }), "c", { value: "{{a.output}}" });
    const merge = mergeGraphs(reads, mine, theirs);
    expect([merge.isClean, ids(merge.mine), ids(merge.theirs)]).toEqual([true, ["a"], ["b", "c"]]);
    expect([valueIn(merge.graph, "b"), valueIn(merge.graph, "c")]).toEqual(["So: {{First.output}}", "{{First.output}}"]);
    expect(mergeGraphs(reads, mine, withData(reads, "a", { label: "Other" })).isClean).toBe(false);
  });
});

test("exactly one trigger stays, and it is mine", () => {
  const other = (id: string): Graph => ({
    nodes: [{ ...trigger, id }, ...base.nodes.slice(1)],
    edges: base.edges.map((one) => (one.source === "t" ? edge(id, "a") : one)),
  });
  const theirs = mergeGraphs(base, withData(base, "a", { value: "x" }), other("u"));
  expect(theirs.isClean).toBe(true);
  expect(theirs.graph.nodes.filter(({ type }) => type === "triggerNode").map(({ id }) => id)).toEqual(["u"]);
  for (const [mine, their, stays] of [
    [other("u"), other("v"), "u"],
    [other("u"), withData(base, "t", { kind: "http" }), "u"],
    [withData(base, "t", { kind: "http" }), other("u"), "t"],
  ] as const) {
    const merge = mergeGraphs(base, mine, their);
    expect(merge.isClean).toBe(false);
    expect(merge.graph.nodes.filter(({ type }) => type === "triggerNode").map(({ id }) => id)).toEqual([stays]);
    expect(merge.graph.edges.every(({ source }) => merge.graph.nodes.some(({ id }) => id === source))).toBe(true);
  }
});

test("a node whose parent is gone stands on its own", () => {
  const inside = graph([node("a"), node("b", {}, { parentId: "a", extent: "parent" })]);
  const flat = { ...inside, nodes: inside.nodes.filter(({ id }) => id !== "a") };
  const merge = mergeGraphs(inside, flat, withData(inside, "b", { value: "x" }));
  expect(merge.graph.nodes.find(({ id }) => id === "b")).not.toHaveProperty("parentId");
});

/** Numbers that look random and are the same each time. */
function dice(seed: number) {
  let state = seed;
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** A graph after some edits as an editor allows them. */
function edited(from: Graph, roll: (sides: number) => number, who: string): Graph {
  let { nodes, edges } = from;
  const pick = <Item>(items: readonly Item[]) => items[roll(items.length)] as Item;
  for (let count = roll(6); count > 0; count--) {
    const some = pick(nodes);
    const id = `${who}${count}`;
    const kind = roll(6);
    if (kind === 0) {
      nodes = [...nodes, node(id, { value: `{{${labelOf(some)}.output}}` })];
      edges = [...edges, edge(some.id, id)];
    } else if (kind === 1 && some.type !== "triggerNode") ({ nodes, edges } = without({ nodes, edges }, some.id));
    else if (kind === 2) nodes = nodes.map((one) => (one === some ? { ...one, data: { ...one.data, value: `${who} ${count}` } } : one));
    else if (kind === 3) nodes = nodes.map((one) => (one === some ? { ...one, position: { x: roll(500), y: roll(500) } } : one));
    else if (kind === 4 && edges.length) edges = edges.filter((one) => one !== pick(edges));
    // Only forwards, as no editor lets one draw a circle.
    else if (kind === 5) {
      const [low, high] = [roll(nodes.length), roll(nodes.length)].sort((a, b) => a - b) as [number, number];
      const [source, target] = [nodes[low], nodes[high]];
      if (source && target && low < high && target.type !== "triggerNode" && !edges.some((one) => one.id === `${source.id}-${target.id}`))
        edges = [...edges, edge(source.id, target.id)];
    }
  }
  return { nodes, edges };
}

const GRAPHS = times(50);

test("whatever two sides do: an unchanged side gives the other, and what comes out can be saved", () => {
  let clean = 0;
  for (let seed = 1; seed <= GRAPHS; seed++) {
    const roll = dice(seed);
    const start = edited(base, roll, "o");
    const [mine, theirs] = [edited(start, roll, "m"), edited(start, roll, "n")];
    const nothing = { nodes: [], edges: [] };
    for (const merge of [mergeGraphs(start, start, theirs), mergeGraphs(start, theirs, start), mergeGraphs(start, theirs, theirs)]) {
      expect(merge.isClean).toBe(true);
      expect(diffGraphs(theirs, merge.graph)).toEqual(nothing);
    }
    const merge = mergeGraphs(start, mine, theirs);
    expect(findFaults(merge.graph), `seed ${seed}`).toEqual([]);
    if (!merge.isClean) continue;
    clean++;
    // Nobody's change is lost, whoever is called "mine".
    const turned = mergeGraphs(start, theirs, mine);
    expect(turned.isClean, `seed ${seed}`).toBe(true);
    expect(diffGraphs(turned.graph, merge.graph).nodes.filter(({ kind }) => kind !== "moved")).toEqual([]);
    expect(diffGraphs(turned.graph, merge.graph).edges).toEqual([]);
    for (const [side, diff] of [
      [mine, merge.mine],
      [theirs, merge.theirs],
    ] as const)
      for (const { id, kind } of diff.nodes)
        if (kind !== "moved") expect(merge.graph.nodes.some((one) => one.id === id)).toBe(side.nodes.some((one) => one.id === id));
  }
  expect(clean).toBeGreaterThan(GRAPHS / 6);
});

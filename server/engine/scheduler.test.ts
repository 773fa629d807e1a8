import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makePlan, type NodeProgress, nextSteps } from "#server/engine/scheduler.ts";
import type { Graph } from "#server/schemas/graph.ts";

const node = (id: string, type = "step") => ({ id, type, position: { x: 0, y: 0 }, data: {} });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}-${target}-${sourceHandle ?? ""}`,
  source,
  target,
  sourceHandle,
});
const plan = (graph: Graph) =>
  makePlan(
    graph,
    (type) => type === "root",
    (type) => type === "note",
  );
const done: NodeProgress = { status: "complete" };

describe("nextSteps", () => {
  it("starts with the root only, and never with a node that nothing leads to", () => {
    const graph = { nodes: [node("t", "root"), node("a"), node("lonely"), node("n", "note")], edges: [edge("t", "a")] };
    expect(nextSteps(plan(graph), new Map())).toEqual({ ready: ["t"], skipped: ["lonely"], isDone: false });
  });

  it("lets a join wait for its longest path", () => {
    const graph = {
      nodes: [node("t", "root"), node("a"), node("b"), node("join")],
      edges: [edge("t", "a"), edge("a", "b"), edge("t", "join"), edge("b", "join")],
    };
    const progress = new Map([
      ["t", done],
      ["a", done],
    ] as const);
    expect(nextSteps(plan(graph), progress).ready).toEqual(["b"]);
    expect(nextSteps(plan(graph), new Map([...progress, ["b", done]])).ready).toEqual(["join"]);
  });

  it("skips a whole tail behind the handle that was not taken, and still runs the join", () => {
    const graph = {
      nodes: [node("t", "root"), node("if"), node("yes"), node("no"), node("tail"), node("join")],
      edges: [
        edge("t", "if"),
        edge("if", "yes", "true"),
        edge("if", "no", "false"),
        edge("no", "tail"),
        edge("tail", "join"),
        edge("yes", "join"),
      ],
    };
    const progress = new Map<string, NodeProgress>([
      ["t", done],
      ["if", { status: "complete", handle: "true" }],
      ["yes", done],
    ]);
    expect(nextSteps(plan(graph), progress)).toEqual({ ready: ["join"], skipped: ["no", "tail"], isDone: false });
  });

  it("treats a failed node as dead unless it continues", () => {
    const graph = { nodes: [node("t", "root"), node("a"), node("b")], edges: [edge("t", "a"), edge("a", "b")] };
    const stepsWhen = (a: NodeProgress) =>
      nextSteps(
        plan(graph),
        new Map([
          ["t", done],
          ["a", a],
        ] as const),
      );
    expect(stepsWhen({ status: "failed" }).skipped).toEqual(["b"]);
    expect(stepsWhen({ status: "failed", continues: true }).ready).toEqual(["b"]);
  });

  it("is not done while a node runs or waits", () => {
    const graph = { nodes: [node("t", "root")], edges: [] };
    for (const status of ["running", "waiting"] as const) expect(nextSteps(plan(graph), new Map([["t", { status }]])).isDone).toBe(false);
    expect(nextSteps(plan(graph), new Map([["t", done]])).isDone).toBe(true);
  });
});

/** Random graphs: edges only lead to later nodes, so there is no cycle; some leave by a handle. */
const graphs = fc.integer({ min: 1, max: 14 }).chain((size) =>
  fc.array(fc.tuple(fc.nat(size), fc.nat(size), fc.constantFrom(undefined, "x", "y")), { maxLength: 40 }).map((pairs): Graph => {
    const ids = ["t", ...Array.from({ length: size }, (_, index) => `n${index}`)];
    const edges = pairs.flatMap(([a, b, handle]) => (a < b ? [edge(ids[a] ?? "", ids[b] ?? "", handle)] : []));
    return { nodes: ids.map((id) => node(id, id === "t" ? "root" : "step")), edges };
  }),
);

/** Plays a graph to its end; `pick` chooses which of the running nodes ends next. Outcomes depend on the node alone. */
function play(graph: Graph, pick: (count: number) => number) {
  const thePlan = plan(graph);
  const progress = new Map<string, NodeProgress>();
  const started: string[] = [];
  const running: string[] = [];
  const outcome = (id: string): NodeProgress => {
    const kind = [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5;
    if (kind === 0) return { status: "failed", continues: true };
    return kind < 3 ? { status: "complete", handle: kind === 1 ? "x" : "y" } : done;
  };
  for (let round = 0; round < 1000; round++) {
    const steps = nextSteps(thePlan, progress);
    for (const id of steps.skipped) progress.set(id, { status: "skipped" });
    for (const id of steps.ready) {
      started.push(id);
      running.push(id);
      progress.set(id, { status: "running" });
    }
    if (steps.isDone) return { started, progress, steps };
    const [ended] = running.splice(pick(running.length), 1);
    if (ended) progress.set(ended, outcome(ended));
  }
  throw new Error("the graph never ended");
}

describe("any graph, in any order of completion", () => {
  it("runs each node at most once, never before its live parents, leaves nothing ready, and ends the same", () => {
    fc.assert(
      fc.property(graphs, fc.infiniteStream(fc.nat()), (graph, choices) => {
        const picks = choices[Symbol.iterator]();
        const any = play(graph, (count) => (picks.next().value ?? 0) % Math.max(1, count));
        const first = play(graph, () => 0);
        expect(new Set(any.started).size).toBe(any.started.length);
        for (const { source, target } of graph.edges) {
          const [from, to] = [any.started.indexOf(source), any.started.indexOf(target)];
          if (from !== -1 && to !== -1) expect(from).toBeLessThan(to);
        }
        expect(any.steps.ready).toEqual([]);
        expect(any.progress.size).toBe(graph.nodes.length);
        expect(Object.fromEntries(any.progress)).toEqual(Object.fromEntries(first.progress));
      }),
    );
  });
});

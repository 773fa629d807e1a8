import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makePlan } from "#server/workflow/compile.ts";
import type { NodeProgress } from "#server/workflow/node-progress.ts";
import { Schedule } from "#server/workflow/scheduler.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type = "step") => ({ id, type, position: { x: 0, y: 0 }, data: {} });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}-${target}-${sourceHandle ?? ""}`,
  source,
  target,
  sourceHandle,
});
const language = {
  isRoot: (type: string) => type === "root",
  isInert: (type: string) => type === "note",
  bodyHandle: () => undefined,
  templates: () => [],
};
const done: NodeProgress = { status: "complete" };

/** The schedule of a graph without loops. */
function schedule(graph: Graph, progress: Record<string, NodeProgress> = {}): Schedule {
  const scope = makePlan(graph, language).scopes.get(null);
  if (!scope) throw new Error("no scope");
  return new Schedule(scope, undefined, new Map(Object.entries(progress)));
}
const news = (of: Schedule) => ({ ready: of.takeReady(), skipped: of.takeSkipped(), isDone: of.isDone });

describe("a schedule", () => {
  it("starts with the root only, and never with a node that nothing leads to", () => {
    const graph = { nodes: [node("t", "root"), node("a"), node("lonely"), node("n", "note")], edges: [edge("t", "a")] };
    expect(news(schedule(graph))).toEqual({ ready: ["t"], skipped: ["lonely"], isDone: false });
  });

  it("lets a join wait for its longest path", () => {
    const graph = {
      nodes: [node("t", "root"), node("a"), node("b"), node("join")],
      edges: [edge("t", "a"), edge("a", "b"), edge("t", "join"), edge("b", "join")],
    };
    const taken = schedule(graph, { t: done, a: done });
    expect(taken.takeReady()).toEqual(["b"]);
    taken.end("b", done);
    expect(taken.takeReady()).toEqual(["join"]);
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
    const progress = { t: done, if: { status: "complete", handle: "true" }, yes: done } as const;
    expect(news(schedule(graph, progress))).toEqual({ ready: ["join"], skipped: ["no", "tail"], isDone: false });
  });

  it("treats a failed node as dead unless it continues", () => {
    const graph = { nodes: [node("t", "root"), node("a"), node("b")], edges: [edge("t", "a"), edge("a", "b")] };
    expect(schedule(graph, { t: done, a: { status: "failed" } }).takeSkipped()).toEqual(["b"]);
    expect(schedule(graph, { t: done, a: { status: "failed", continues: true } }).takeReady()).toEqual(["b"]);
  });

  it("is not done while a node runs or waits", () => {
    const graph = { nodes: [node("t", "root")], edges: [] };
    for (const status of ["running", "waiting"] as const) expect(schedule(graph, { t: { status } }).isDone).toBe(false);
    expect(schedule(graph, { t: done }).isDone).toBe(true);
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
  const progress = new Map<string, NodeProgress>();
  const started: string[] = [];
  const running: string[] = [];
  /** Nodes that were given out while one before them had not ended. */
  const early: string[] = [];
  let current = schedule(graph);
  const outcome = (id: string): NodeProgress => {
    const kind = [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5;
    if (kind === 0) return { status: "failed", continues: true };
    return kind < 3 ? { status: "complete", handle: kind === 1 ? "x" : "y" } : done;
  };
  for (let round = 0; round < 1000; round++) {
    for (const id of current.takeSkipped()) progress.set(id, { status: "skipped" });
    for (const id of current.takeReady()) {
      if (graph.edges.some(({ source, target }) => target === id && !progress.has(source))) early.push(id);
      started.push(id);
      running.push(id);
      progress.set(id, { status: "running" });
    }
    if (current.isDone) return { started, early, progress, ready: current.takeReady() };
    const [ended] = running.splice(pick(running.length), 1);
    if (!ended) throw new Error("nothing runs, and the graph has not ended");
    progress.set(ended, outcome(ended));
    // A process that takes the run up again knows only the progress, and must come to the same.
    if (round % 3 === 2) current = schedule(graph, Object.fromEntries(progress));
    else current.end(ended, outcome(ended));
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
        expect(any.early).toEqual([]);
        expect(any.ready).toEqual([]);
        expect(any.progress.size).toBe(graph.nodes.length);
        expect(Object.fromEntries(any.progress)).toEqual(Object.fromEntries(first.progress));
      }),
    );
  });
});

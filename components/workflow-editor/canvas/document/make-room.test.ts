import { expect, test } from "vitest";
import { placementAfter } from "#components/workflow-editor/canvas/document/edits.ts";
import { moveToLoop } from "#components/workflow-editor/canvas/document/loop-edits.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { atDrawnPosition, bodiesOf, framesOf } from "#server/workflow/layout/loop-frames.ts";
import { makeRoomForFrames } from "#server/workflow/layout/make-room.ts";
import { sizeOf } from "#server/workflow/layout/node-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, x: number, y: number) => ({ id, type: `${type}Node`, position: { x, y }, data: { label: id } });
const edge = (from: string, target: string) => {
  const [source = "", sourceHandle] = from.split(".");
  return { id: `${from}-${target}`, source, target, ...(sourceHandle && { sourceHandle }) };
};
function open(graph: Graph) {
  const store = createEditorStore(graph);
  const state = () => store.getState();
  const at = (id: string) => state().nodes.find((one) => one.id === id)?.position ?? { x: Number.NaN, y: Number.NaN };
  /** Pairs of cards and frames that cover each other, though neither lies in the other. */
  const covered = () => {
    const bodies = bodiesOf(state());
    const frames = framesOf(state(), bodies, new Set());
    const boxes = state().nodes.map((one) => ({ id: one.id, ...(frames.get(one.id) ?? { ...one.position, ...sizeOf(one) }) }));
    const around = (id: string): string[] => (bodies.owner[id] === undefined ? [] : [bodies.owner[id], ...around(bodies.owner[id])]);
    return boxes.flatMap((a, index) =>
      boxes.slice(index + 1).flatMap((b) => {
        const isApart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        return isApart || around(a.id).includes(b.id) || around(b.id).includes(a.id) ? [] : [`${a.id} ${b.id}`];
      }),
    );
  };
  return { state, at, covered };
}

const line: Graph = {
  nodes: [
    node("Start", "trigger", 0, 0),
    node("Ask", "agent", 330, 0),
    node("Check", "branch", 660, 0),
    node("Yes", "output", 990, -80),
    node("No", "output", 990, 80),
    node("Far", "output", 3000, 0),
    node("Below", "agent", 330, 300),
  ],
  edges: [edge("Start", "Ask"), edge("Ask", "Check"), edge("Check.true", "Yes"), edge("Check.false", "No"), edge("Yes", "Far")],
};

test("a node that is put into an edge stands between its ends, and what follows makes room, as one step of undo", () => {
  const { state, at, covered } = open(line);
  const id = state().add("humanLoopNode", { position: { x: 165, y: -30 }, edgeId: "Start-Ask" });
  expect(covered()).toEqual([]);
  expect(at(id)).toEqual({ x: 330, y: 0 });
  expect(["Ask", "Check", "Yes", "No"].map((name) => at(name).x)).toEqual([660, 990, 1320, 1320]);
  // There is room enough before it, and this is another line.
  expect([at("Far").x, at("Below").x, at("Start").x]).toEqual([3000, 330, 0]);
  state().undo();
  expect(state().graph()).toEqual(line);
});

test("where there is room, nothing moves and the node comes where it was asked for", () => {
  const { state, at, covered } = open(line);
  const id = state().add("agentNode", { position: { x: 2000, y: -30 }, edgeId: "Yes-Far" });
  expect(at(id)).toEqual({ x: 2000, y: 0 });
  expect(covered()).toEqual([]);
  expect(line.nodes.every(({ id: name, position }) => at(name).x === position.x)).toBe(true);
});

test("inside a loop the body makes room, and what the frame would cover moves along with it", () => {
  const { state, at, covered } = open({
    nodes: [
      node("Start", "trigger", 0, 0),
      node("Each", "loop", 330, 0),
      node("One", "agent", 430, 80),
      node("Two", "agent", 760, 80),
      node("All", "output", 1120, 0),
      node("Last", "output", 1450, 0),
    ],
    edges: [edge("Start", "Each"), edge("Each.body", "One"), edge("One", "Two"), edge("Each.done", "All"), edge("All", "Last")],
  });
  const middle = state().add("agentNode", { position: { x: 595, y: 80 }, edgeId: "One-Two" });
  expect([at("One").x, at(middle).x, at("Two").x]).toEqual([430, 760, 1090]);
  expect([at("All").x, at("Last").x]).toEqual([1450, 1780]);
  const first = state().add("outputNode", { position: { x: 400, y: 80 }, edgeId: "Each.body-One" });
  expect([at(first).x, at("One").x, at("All").x]).toEqual([430, 760, 1780]);
  const end = state().add("outputNode", { position: { x: 1750, y: 80 }, after: { nodeId: "Two", handle: null } });
  expect(bodiesOf(state()).owner[end]).toBe("Each");
  expect(covered()).toEqual([]);
});

test("a loop that is put into an edge begins right of what comes before", () => {
  const { state, at, covered } = open(line);
  const id = state().add("loopNode", { position: { x: 165, y: -30 }, edgeId: "Start-Ask" });
  expect(bodiesOf(state()).owner.Ask).toBe(id);
  expect(at(id).x).toBeGreaterThanOrEqual(330);
  expect(covered().filter((two) => !two.includes("Below"))).toEqual([]);
});

test("a frame that grows makes way on every side: what it would cover moves off, what is far stays", () => {
  const { state, at, covered } = open({
    nodes: [
      node("Start", "trigger", 0, 0),
      node("Each", "loop", 330, 0),
      node("One", "agent", 430, 80),
      node("All", "output", 1200, 0),
      node("Above", "note", 430, -220),
      node("Below", "agent", 430, 320),
      node("Lower", "agent", 430, 500),
      node("Far", "agent", 430, 900),
    ],
    edges: [edge("Start", "Each"), edge("Each.body", "One"), edge("Each.done", "All")],
  });
  /** Drops a new Output into the frame, with its head at this place. */
  const drop = (x: number, y: number) => {
    const frames = framesOf(state(), bodiesOf(state()), new Set());
    const id = state().add("outputNode", { position: { x, y }, isExact: true });
    const edit = moveToLoop(state(), [id], "Each");
    if (!("document" in edit)) throw new Error(edit.refusal);
    state().apply("add", makeRoomForFrames(edit.document, "Each", frames), { joins: true, say: edit.say });
    expect(bodiesOf(state()).owner[id]).toBe("Each");
  };
  drop(430, 230);
  expect(covered()).toEqual([]);
  expect(at("Below")).toEqual({ x: 430, y: expect.any(Number) });
  expect(at("Below").y).toBeGreaterThan(320);
  expect([at("Far"), at("Start"), at("All"), at("Above")].map(({ x, y }) => [x, y])).toEqual([
    [430, 900],
    [0, 0],
    [1200, 0],
    [430, -220],
  ]);
  drop(150, 80);
  expect(covered()).toEqual([]);
  expect(at("Start")).toEqual({ x: -280, y: 0 });
  drop(430, -60);
  expect(covered()).toEqual([]);
  expect(at("Above").y).toBeLessThan(-220);
  expect(at("All")).toEqual({ x: 1200, y: 0 });
});

test("a next step never lands on a card or a frame, wherever it is asked for", () => {
  let state = 11;
  const next = (most: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * most);
  };
  for (let round = 0; round < 40; round++) {
    // Cards and a loop with a step in it, on a grid that leaves them apart; next steps come between them.
    const cells = Array.from({ length: 5 + next(6) }, (_, index) => ({ x: 330 * (index % 4), y: 170 * Math.floor(index / 4) }));
    const names = cells.map((_, index) => `N${index}`);
    const nodes = [
      node("Start", "trigger", -330, 0),
      ...cells.map(({ x, y }, index) => node(`N${index}`, "agent", x, y)),
      node("Each", "loop", 1500, next(300)),
      node("In", "agent", 1600, 400),
    ];
    const edges = [...names.map((name) => edge("Start", name)), edge("Start", "Each"), edge("Each.body", "In")];
    const { state: now, covered } = open({ nodes, edges });
    const before = new Set(covered());
    for (let added = 0; added < 6; added++) {
      const all = now().nodes.filter(({ type }) => type !== "outputNode");
      const from = all[next(all.length)];
      if (!from) continue;
      now().add(added % 2 ? "agentNode" : "loopNode", placementAfter(atDrawnPosition(now(), from), now()));
    }
    now().add("agentNode", { position: { x: next(1500), y: next(500) } });
    expect(
      covered().filter((pair) => !before.has(pair)),
      `round ${round}`,
    ).toEqual([]);
  }
});

import { expect, test } from "vitest";
import { toFlow } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { moveToLoop } from "#components/workflow-editor/canvas/document/loop-edits.ts";
import {
  frameBeingLeft,
  frameForBox,
  frameUnderNode,
  grabbedNode,
  nodesChangingLoop,
} from "#components/workflow-editor/canvas/geometry/loop-drop.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { disconnectedMessage } from "#components/workflow-editor/canvas/use-loop-frames.ts";
import {
  bodiesOf,
  descendantsOf,
  edgesBesideCollapsed,
  FRAME,
  frameOf,
  framesOf,
  withBodyMoves,
} from "#server/workflow/layout/loop-frames.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, x: number, y: number, data: Record<string, unknown> = {}) => ({
  ...{ id, type: `${type}Node`, position: { x, y } },
  data: { label: id, ...data },
});
const edge = (from: string, target: string) => {
  const [source = "", sourceHandle] = from.split(".");
  return { id: `${from}-${target}`, source, target, ...(sourceHandle && { sourceHandle }) };
};

/** Start → Each { Check → Yes | No, Inner { Deep } } → All */
const graph: Graph = {
  nodes: [
    node("Start", "trigger", 0, 0, { kind: "manual" }),
    node("Each", "loop", 300, 0, { items_expression: "{{trigger.output}}" }),
    node("Check", "branch", 500, 100, { condition: "True" }),
    node("Yes", "output", 800, 80),
    node("No", "agent", 800, 240),
    node("Inner", "loop", 1100, 240, { items_expression: "{{No.output}}" }),
    node("Deep", "output", 1300, 300),
    node("All", "output", 2000, 0, { value: "{{Each.output}}" }),
    node("Aside", "agent", 0, 700),
  ],
  edges: [
    ...[edge("Start", "Each"), edge("Each.body", "Check"), edge("Check.true", "Yes"), edge("Check.false", "No")],
    ...[edge("No", "Inner"), edge("Inner.body", "Deep"), edge("Each.done", "All")],
  ],
};
const document = toFlow(graph);
const bodies = bodiesOf(document);
const links = (edges: readonly { source: string; sourceHandle?: string | null; target: string }[]) =>
  edges.map(({ source, sourceHandle, target }) => `${source}${sourceHandle ? `.${sourceHandle}` : ""}>${target}`).sort();
const frameAt = (frames: ReturnType<typeof framesOf>, at: { x: number; y: number }, of = bodies) =>
  frameForBox({ ...at, width: 1, height: 1 }, at, frames, of);
const moved = (ids: string[], loop: string | null, from = document) => {
  const edit = moveToLoop(from, ids, loop);
  if ("refusal" in edit) throw new Error(edit.refusal);
  return edit.document;
};

test("a frame lies around its body, frames inside it included", () => {
  expect([...descendantsOf(bodies, "Each")].sort()).toEqual(["Check", "Deep", "Inner", "No", "Yes"]);
  expect(bodies.loops).toEqual(["Inner", "Each"]);
  const frames = framesOf(document, bodies, new Set());
  const [inner, outer] = [frames.get("Inner"), frames.get("Each")];
  expect(inner).toMatchObject({ x: 1300 - FRAME.left, y: 300 - FRAME.head, width: FRAME.width });
  expect(outer).toMatchObject({ x: 500 - FRAME.left, y: 0, entry: 120 });
  expect(outer && inner && outer.x + outer.width).toBe(inner && inner.x + inner.width + FRAME.right);
  expect(frameAt(frames, { x: 1350, y: 320 })).toBe("Inner");
  expect(frameAt(frames, { x: 900, y: 300 })).toBe("Each");
  expect(frameAt(frames, { x: 2050, y: 20 })).toBeNull();
});

test("a frame that is moved takes everything inside along, once", () => {
  const frames = framesOf(document, bodies, new Set());
  const outer = frames.get("Each");
  if (!outer) throw new Error("no frame");
  const places = withBodyMoves(new Map([["Each", { x: outer.x + 10, y: outer.y - 5 }]]), document.nodes, bodies, frames);
  expect(places.get("Deep")).toEqual({ x: 1310, y: 295 });
  expect(places.has("All")).toBe(false);
  const both = withBodyMoves(
    new Map([
      ["Each", { x: outer.x + 10, y: outer.y }],
      ["Inner", { x: 5000, y: 0 }],
    ]),
    document.nodes,
    bodies,
    frames,
  );
  expect(both.get("Deep")).toEqual({ x: 1310, y: 300 });
});

test("a node dropped into a frame follows the nearest free way out to its left, and leads on where it was taken from", () => {
  const lone = moved(["Aside"], "Inner");
  expect(links(lone.edges)).toContain("Inner.body>Aside");
  const right = {
    ...document,
    nodes: document.nodes.map((item) => (item.id === "Aside" ? { ...item, position: { x: 1600, y: 320 } } : item)),
  };
  expect(links(moved(["Aside"], "Inner", right).edges)).toContain("Deep>Aside");
  expect(bodiesOf(moved(["Aside"], "Each")).owner.Aside).toBe("Each");
});

test("a node taken out of a frame leaves the way through it whole", () => {
  const out = moved(["No"], null);
  expect(links(out.edges)).toEqual(
    ["Check.false>Inner", "Check.true>Yes", "Each.body>Check", "Each.done>All", "Inner.body>Deep", "Start>Each"].sort(),
  );
  const withInner = moved(["Inner"], null);
  expect(bodiesOf(withInner).owner).toMatchObject({ Deep: "Inner", Check: "Each" });
  expect(bodiesOf(withInner).owner.Inner).toBeUndefined();
});

/** Each { In }, and beside it First → Second, 330 apart. */
const pair = toFlow({
  nodes: [
    node("Start", "trigger", 0, 0),
    node("Each", "loop", 300, 0),
    node("In", "output", 400, 80),
    node("First", "output", 450, 140),
    node("Second", "output", 780, 140),
    node("After", "output", 1110, 140),
  ],
  edges: [edge("Start", "Each"), edge("Each.body", "In"), edge("Start", "First"), edge("First", "Second"), edge("Second", "After")],
});

test("a selection goes into a frame as one, with the node that was taken hold of, and tells what it was cut from", () => {
  const of = bodiesOf(pair);
  const frames = framesOf(pair, of, new Set());
  const dragged = pair.nodes.filter(({ id }) => id === "First" || id === "Second");
  const held = grabbedNode(dragged, of, { nodeId: "First", point: { x: 460, y: 150 } });
  if (!held) throw new Error("nothing held");
  expect(frameUnderNode(held, { x: 460, y: 150 }, frames, of)).toBe("Each");
  expect(grabbedNode(dragged, of, { nodeId: null, point: { x: 1000, y: 200 } })?.id).toBe("Second");
  expect(nodesChangingLoop("Each", dragged, of)).toEqual(["First", "Second"]);
  const edit = moveToLoop(pair, nodesChangingLoop("Each", dragged, of), "Each");
  if ("refusal" in edit) throw new Error(edit.refusal);
  expect(links(edit.document.edges)).toContain("First>Second");
  expect(bodiesOf(edit.document).owner).toMatchObject({ First: "Each", Second: "Each" });
  expect(edit.cut).toEqual(["Start", "After"]);
  expect(disconnectedMessage(edit.cut)).toBe("Disconnected from Start and After");

  // Out again, held by the other one; what stayed inside stays.
  const inside = bodiesOf(edit.document);
  const all = edit.document.nodes.filter(({ id }) => id !== "Start" && id !== "Each" && id !== "After");
  expect(nodesChangingLoop(null, all, inside)).toEqual(["In", "First", "Second"]);
  expect(links(moved(nodesChangingLoop(null, dragged, inside), null, edit.document).edges)).toContain("First>Second");
  expect(frameBeingLeft("Second", null, inside)).toBe("Each");
  expect(frameBeingLeft("After", "Each", inside)).toBeNull();
  // A loop and what it carries move without a change.
  const whole = edit.document.nodes.filter(({ id }) => id === "Each" || id === "In");
  expect(nodesChangingLoop(null, whole, inside)).toEqual([]);
});

test("a frame takes a card that the pointer is over it with, or that lies in it by half", () => {
  const frames = framesOf(document, bodies, new Set());
  const each = frames.get("Each");
  if (!each) throw new Error("no frame");
  const card = (share: number) => ({ x: each.x - 250 * (1 - share), y: each.y + 20, width: 250, height: 120 });
  expect(frameForBox(card(0.6), null, frames, bodies)).toBe("Each");
  expect(frameForBox(card(0.4), null, frames, bodies)).toBeNull();
  expect(frameForBox(card(0.1), { x: each.x + 5, y: each.y + 30 }, frames, bodies)).toBe("Each");
});

test("what cannot stand in a loop is refused in words", () => {
  expect(moveToLoop(document, ["Start"], "Each")).toEqual({ refusal: expect.stringContaining("trigger") });
  expect(moveToLoop(document, ["All"], "Each")).toEqual({ refusal: expect.stringContaining("reads the output of Each") });
  expect(moveToLoop(document, ["Each"], "Inner")).toEqual({ refusal: expect.stringContaining("own body") });
});

test("a collapsed loop is one card: its insides' edges are the loop's, and it comes back where it was", () => {
  const folded = edgesBesideCollapsed(document.edges, bodies, new Set(["Each"]));
  expect(links(folded)).toEqual(["Each.done>All", "Start>Each"]);
  const editor = createEditorStore(graph);
  const before = frameOf(editor.getState(), "Each");
  editor.getState().toggleCollapsed("Each");
  const node = editor.getState().nodes.find(({ id }) => id === "Each");
  expect(node?.position).toEqual({ x: before?.x, y: before?.y });
  expect(frameOf(editor.getState(), "Each")).toBeUndefined();
  editor.getState().toggleCollapsed("Each");
  expect(frameOf(editor.getState(), "Each")).toEqual(before);
  expect(editor.getState().data.Each).not.toHaveProperty("collapsed");
});

test("tidying sets bodies out inside their frames and clear of what stands outside", async () => {
  const editor = createEditorStore(graph);
  await editor.getState().tidy();
  const state = editor.getState();
  const frames = framesOf(state, bodiesOf(state), new Set());
  const each = frames.get("Each");
  const at = (id: string) => state.nodes.find((item) => item.id === id)?.position ?? { x: 0, y: 0 };
  expect(each && at("All").x).toBeGreaterThan(each ? each.x + each.width : 0);
  expect(each && at("Start").x + 250).toBeLessThan(each?.x ?? 0);
  expect(at("Each")).toEqual({ x: each?.x, y: each?.y });
  for (const id of ["Check", "Yes", "No", "Inner", "Deep"]) expect(frameAt(frames, at(id), bodiesOf(state))).not.toBeNull();
});

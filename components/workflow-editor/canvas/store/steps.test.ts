import { expect, test } from "vitest";
import { arrowOf, nudge } from "#components/workflow-editor/canvas/layout/arrange.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import type { Graph } from "#server/workflow/schema.ts";

// What is selected after a step is taken back or done again, and moves of what is selected by arrow keys.

const output = (id: string, x: number, y = 0) => ({ id, type: "outputNode", position: { x, y }, data: { label: id, value: "" } });
/** Start → Each (Inner) → After. */
const graph: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } },
    { id: "loop", type: "loopNode", position: { x: 300, y: 0 }, data: { label: "Each", items_expression: "[1]" } },
    output("inner", 400, 80),
    output("after", 900),
  ],
  edges: [
    { id: "tl", source: "t", target: "loop" },
    { id: "li", source: "loop", target: "inner", sourceHandle: "body" },
    { id: "la", source: "loop", target: "after", sourceHandle: "done" },
  ],
};

function open() {
  const clock = { time: 0 };
  const store = createEditorStore(graph, { now: () => clock.time });
  return {
    clock,
    state: () => store.getState(),
    chosen: () => [...store.getState().nodes, ...store.getState().edges].filter((item) => item.selected).map(({ id }) => id),
    place: (id: string) => store.getState().nodes.find((node) => node.id === id)?.position,
  };
}
const key = (name: string, rest: { shiftKey?: boolean; ctrlKey?: boolean } = {}) =>
  arrowOf({ key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...rest });

test("undone and redone, a step leaves selected what it brought back, and nothing of the steps before", () => {
  const { state, chosen } = open();
  const added = [0, 1, 2, 3].map((row) => state().add("outputNode", { position: { x: 0, y: 300 + row * 200 } }));
  for (const _ of added) state().undo();
  expect(chosen()).toEqual([]);
  for (const id of added) {
    state().redo();
    expect(chosen()).toEqual([id]);
  }
  state().removeSelected();
  expect(state().nodes.map(({ id }) => id)).toEqual([...graph.nodes.map(({ id }) => id), ...added.slice(0, 3)]);
});

test("undo selects what it changed: of several what was selected then, a connection only where no node changed", () => {
  const { state, chosen } = open();
  state().selectOnly("after");
  state().setField("after", "value", "x");
  state().selectOnly("t");
  state().undo();
  expect(chosen()).toEqual(["after"]);
  state().remove([], ["la"]);
  state().undo();
  expect(chosen()).toEqual(["la"]);
  // A loop comes back with its body, and is what was deleted.
  state().selectOnly("loop");
  state().removeSelected();
  state().undo();
  expect(chosen()).toEqual(["loop"]);
});

test("a frame that follows its body is not what undo selects: one key would delete all of it", () => {
  const { state, chosen } = open();
  state().place("set out", new Map([["inner", { x: 500, y: 200 }]]));
  state().undo();
  expect(chosen()).toEqual(["inner"]);
});

test("what a step leaves alone stays the same object, so that it is not drawn again", () => {
  const { state } = open();
  const before = state().nodes;
  state().setField("after", "value", "x");
  state().undo();
  expect(state().nodes.map((node, index) => node === before[index])).toEqual([true, true, true, false]);
});

test("another document keeps what is selected, and selects nothing that is new", () => {
  const { state, chosen } = open();
  state().selectOnly("after");
  state().replace({ ...graph, nodes: [...graph.nodes, output("new", 0, 600)] }, "restore version 1");
  expect(chosen()).toEqual(["after"]);
});

test("arrow keys move all that is selected as one step, and a frame takes its body along", () => {
  const { state, place, clock } = open();
  state().selectOnly("loop");
  const [frame, inner] = [place("loop"), place("inner")];
  for (const name of ["ArrowRight", "ArrowRight", "ArrowDown"]) {
    clock.time += 100;
    state().onNodesChange(nudge(state(), key(name) ?? { x: 0, y: 0 }, true));
  }
  expect(place("inner")).toEqual({ x: (inner?.x ?? 0) + 20, y: (inner?.y ?? 0) + 10 });
  expect(place("loop")).toEqual({ x: (frame?.x ?? 0) + 20, y: (frame?.y ?? 0) + 10 });
  expect(place("after")).toEqual({ x: 900, y: 0 });
  expect(state().history.past.map((step) => step.name)).toEqual(["move 2 nodes"]);

  clock.time += 5000;
  state().selectAll();
  state().onNodesChange(nudge(state(), key("ArrowUp", { shiftKey: true }) ?? { x: 0, y: 0 }, false));
  expect([place("t"), place("after")]).toEqual([
    { x: 0, y: -20 },
    { x: 900, y: -20 },
  ]);
  expect(place("inner")).toEqual({ x: (inner?.x ?? 0) + 20, y: (inner?.y ?? 0) - 10 });
  state().undo();
  state().undo();
  expect(state().graph()).toEqual(graph);
});

test("keys with Ctrl are no arrows, and with nothing selected nothing moves", () => {
  const { state } = open();
  expect([key("ArrowUp", { ctrlKey: true }), key("a")]).toEqual([null, null]);
  expect(nudge(state(), { x: 1, y: 0 }, true)).toEqual([]);
});

import { expect, test } from "vitest";
import type { NodeSnapshot, RunSnapshot } from "#components/runs/store/run-snapshot.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { textsOf } from "#components/workflow-editor/fields/run-values.ts";
import { nodesNotRun, pinnedNodes, pinOutput, pinRun, unpin, validatePin } from "#components/workflow-editor/test-runs/pinning.ts";

const node = (id: string, type: string) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id } });
const newEditor = () =>
  createEditorStore({
    nodes: [node("t", "triggerNode"), node("a", "agentNode"), node("b", "agentNode"), node("way", "branchNode"), node("o", "outputNode")],
    edges: [],
  });
const pinned = (editor: ReturnType<typeof newEditor>) =>
  Object.fromEntries(pinnedNodes(editor.getState()).map((id) => [id, editor.getState().data[id]?.pinned]));

test("a pin is one step of undo, and is refused where it cannot be the node's output", () => {
  const editor = newEditor();
  expect(pinOutput(editor, "a", "x")).toBeNull();
  expect(pinned(editor)).toEqual({ a: { output: "x" } });
  expect(pinOutput(editor, "way", "maybe")).toContain("True or False");
  expect(pinOutput(editor, "t", "x")).toContain("what a run is started with");
  expect(pinOutput(editor, "o", "x")).toContain("Pin the node before it");
  expect(pinOutput(editor, "a", "x".repeat(65_537))).toContain("64 Ki");
  unpin(editor, ["a"]);
  expect(pinned(editor)).toEqual({});
  expect(editor.getState().data.a).not.toHaveProperty("pinned");
  editor.getState().undo();
  expect(pinned(editor)).toEqual({ a: { output: "x" } });
});

test("of a run, what was left behind outside loops is pinned together; what is too large is named", () => {
  const editor = newEditor();
  const done = { status: "complete", iteration: "", whole_length: null } as Partial<NodeSnapshot>;
  const nodes = {
    t: { ...done, output: "in" },
    a: { ...done, output: "x".repeat(70_000) },
    b: { ...done, output: "y", iteration: "3" },
    way: { ...done, output: "False" },
    o: { ...done, output: "z" },
  };
  const before = editor.getState().history.past.length;
  expect(pinRun(editor, { nodes } as unknown as RunSnapshot)).toEqual({ count: 1, tooLarge: ["a"] });
  expect(pinned(editor)).toEqual({ way: { output: "False" } });
  expect(editor.getState().history.past).toHaveLength(before + 1);
});

test("a node that is switched off is not pinned with the others", () => {
  const editor = newEditor();
  editor.getState().setDisabled(["b"], true);
  const left = { status: "complete", iteration: "", whole_length: null, output: "x" };
  pinRun(editor, { nodes: { a: left, b: left } } as unknown as RunSnapshot);
  expect(pinned(editor)).toEqual({ a: { output: "x" } });
});

test("with a loop's output pinned, its body has no work either", () => {
  const nodes = [node("t", "triggerNode"), node("l", "loopNode"), node("in", "agentNode"), node("a", "agentNode")];
  const edges = [
    { id: "1", source: "t", target: "l" },
    { id: "2", source: "l", sourceHandle: "body", target: "in" },
    { id: "3", source: "l", sourceHandle: "done", target: "a" },
  ];
  const editor = createEditorStore({ nodes, edges });
  expect(nodesNotRun(editor.getState())).toEqual([]);
  expect(pinOutput(editor, "l", "[1]")).toBeNull();
  expect(nodesNotRun(editor.getState()).sort()).toEqual(["in", "l"]);
});

test("all pins together have a limit", () => {
  const nodes = Array.from({ length: 20 }, (_, at) => node(`a${at}`, "agentNode"));
  const editor = createEditorStore({ nodes, edges: [] });
  for (let at = 0; at < 16; at++) expect(pinOutput(editor, `a${at}`, "x".repeat(65_536))).toBeNull();
  expect(validatePin(editor.getState(), "a16", "x")).toContain("Unpin one first");
});

test("the form of a run begins with what the run on the screen was given", () => {
  const parameters = [{ name: "n" }, { name: "list" }] as never;
  expect(textsOf("hello", { kind: "manual", parameters: [] })).toEqual({ input: "hello" });
  expect(textsOf('{"n":3,"list":["a"],"gone":1}', { kind: "params", parameters })).toEqual({ n: "3", list: '["a"]' });
  expect(textsOf("no JSON", { kind: "params", parameters })).toEqual({});
});

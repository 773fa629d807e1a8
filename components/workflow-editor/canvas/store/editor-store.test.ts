import { expect, test } from "vitest";
import { HISTORY_LIMIT } from "#components/undo-history.ts";
import { positionBelowAll } from "#components/workflow-editor/canvas/document/edits.ts";
import { sameGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { runAtOnce } from "#server/workflow/listing.ts";
import { checkGraph } from "#server/workflow/problems.ts";
import type { Graph } from "#server/workflow/schema.ts";

const start: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } },
    { id: "a", type: "agentNode", position: { x: 300, y: 0 }, data: { label: "Research", input: "{{trigger.output}}" } },
    {
      id: "o",
      type: "outputNode",
      position: { x: 600, y: 0 },
      data: { label: "Output", value: "Says {{ Research.output}} and {{Researcher.output}}" },
    },
  ],
  edges: [{ id: "ta", source: "t", target: "a" }],
};

function open(options: { isReadOnly?: boolean } = {}) {
  const clock = { time: 0 };
  const store = createEditorStore(start, { ...options, now: () => clock.time });
  return { store, clock, state: () => store.getState(), past: () => store.getState().history.past.map((step) => step.name) };
}
const moveTo = (id: string, x: number, dragging?: boolean) => [
  { id, type: "position" as const, position: { x, y: 0 }, ...(dragging !== undefined && { dragging }) },
];

test("a drag is one step, and undo puts the node back", () => {
  const { state, past } = open();
  for (const x of [310, 320, 330]) state().onNodesChange(moveTo("a", x, true));
  state().onNodesChange(moveTo("a", 330, false));
  expect(past()).toEqual(["move Agent Research"]);
  state().undo();
  expect(state().graph()).toEqual(start);
  state().redo();
  expect(state().graph().nodes[1]?.position.x).toBe(330);
});

test("a resize by its corner is one step, kept in the graph in whole numbers; measuring is none", () => {
  const note = { id: "n", type: "noteNode", position: { x: 0, y: 300 }, data: { content: "# Hi" } };
  const store = createEditorStore({ ...start, nodes: [...start.nodes, note] }, { now: () => 0 });
  const resizeTo = (width: number) =>
    store
      .getState()
      .onNodesChange([{ id: "n", type: "dimensions", resizing: true, setAttributes: true, dimensions: { width, height: 200.4 } }]);
  const letGo = () =>
    store.getState().onNodesChange([{ id: "n", type: "dimensions", resizing: false, dimensions: { width: 1, height: 1 } }]);
  store.getState().onNodesChange([{ id: "n", type: "dimensions", dimensions: { width: 320, height: 90 } }]);
  letGo();
  expect(store.getState().revision).toBe(0);
  for (const width of [350.2, 400, 480.6]) resizeTo(width);
  letGo();
  const sized = () => store.getState().graph().nodes.at(-1);
  expect(sized()).toEqual({ ...note, width: 481, height: 200 });
  expect(store.getState().history.past.map((step) => step.name)).toEqual(["resize Note"]);
  resizeTo(600);
  letGo();
  store.getState().undo();
  expect(sized()?.width).toBe(481);
  store.getState().undo();
  expect(sized()).toEqual(note);
  // From the panel: typing is one step, and the note can be as large as its text again.
  for (const width of [160, 161]) store.getState().resize("n", { width });
  expect(sized()).toEqual({ ...note, width: 161 });
  expect(store.getState().history.past).toHaveLength(1);
  store.getState().resize("n", { width: undefined, height: undefined });
  expect(sameGraph(store.getState().graph(), { ...start, nodes: [...start.nodes, note] })).toBe(true);
});

test("a burst of arrow keys is one step, a later one another", () => {
  const { state, past, clock } = open();
  for (const x of [305, 310, 315]) {
    clock.time += 100;
    state().onNodesChange(moveTo("a", x, false));
  }
  clock.time += 5000;
  state().onNodesChange(moveTo("a", 320, false));
  expect(past()).toHaveLength(2);
  state().undo();
  expect(state().graph().nodes[1]?.position.x).toBe(315);
  state().undo();
  expect(state().graph()).toEqual(start);
});

test("typing in a field is one step, and leaves the nodes that React Flow draws alone", () => {
  const { state, past, clock } = open();
  const before = state().nodes;
  for (const text of ["W", "Wr", "Write"]) {
    clock.time += 200;
    state().setField("a", "input", text);
  }
  expect(state().nodes).toBe(before);
  expect(past()).toEqual(["change input of Agent Research"]);
  state().undo();
  expect(state().graph()).toEqual(start);
});

test("fifty steps can be taken back, not more", () => {
  const { state, past, clock } = open();
  for (let count = 0; count < HISTORY_LIMIT + 10; count++) {
    clock.time += 10_000;
    state().setField("a", "input", `text ${count}`);
  }
  expect(past()).toHaveLength(HISTORY_LIMIT);
  for (let count = 0; count < HISTORY_LIMIT + 5; count++) state().undo();
  expect(state().graph().nodes[1]?.data.input).toBe("text 9");
  expect(state().announcement.text).toBe("Nothing to undo");
});

test("a new edit forgets what could be redone", () => {
  const { state } = open();
  state().add("noteNode", { position: { x: 0, y: 400 } });
  state().undo();
  state().add("outputNode", { position: { x: 0, y: 400 } });
  const after = state().graph();
  state().redo();
  expect(state().graph()).toEqual(after);
});

test("connections follow the server's rules and say why not", () => {
  const { state } = open();
  expect(state().connect({ source: "a", target: "t" })).toBe("Nothing can lead into the trigger.");
  expect(state().connect({ source: "t", target: "a" })).toBe("These two are connected already.");
  expect(state().connect({ source: "a", target: "o" })).toBeNull();
  expect(state().connect({ source: "o", target: "a" })).toContain("circle");
  expect(state().edges).toHaveLength(2);
});

test("a node put into an edge leaves source → node → target", () => {
  const { state } = open();
  const id = state().add("agentNode", { position: { x: 150, y: 0 }, edgeId: "ta" });
  expect(state().edges.map(({ source, target }) => `${source} ${target}`)).toEqual([`t ${id}`, `${id} a`]);
  expect(state().data[id]?.label).toBe("Agent");
  state().undo();
  expect(state().graph()).toEqual(start);
});

test("a note dropped on an edge or after a node stays unconnected", () => {
  const { state } = open();
  state().add("noteNode", { position: { x: 0, y: 0 }, edgeId: "ta" });
  state().add("noteNode", { position: { x: 0, y: 0 }, after: { nodeId: "a", handle: null } });
  expect(state().graph().edges).toEqual(start.edges);
});

test("renaming carries expressions along and refuses a name twice", () => {
  const { state } = open();
  expect(state().rename("a", "Output")).toContain('called "Output" already');
  expect(state().rename("a", "  ")).toBe("Give the node a name.");
  expect(state().rename("a", "a {b}")).toContain("Leave out braces");
  expect(state().rename("a", "trigger.v2")).toContain("another name");
  expect(state().rename("a", "GPT-4.1 [new]")).toBeNull();
  state().undo();
  expect(state().rename("a", "Scout")).toBeNull();
  expect(state().data.o?.value).toBe("Says {{Scout.output}} and {{Researcher.output}}");
  expect(state().nodes[1]?.ariaLabel).toBe("Agent Scout");
  expect(state().edges[0]?.ariaLabel).toBe("Connection from Start to Scout");
  state().undo();
  expect(state().graph()).toEqual(start);
});

test("renaming carries Python conditions along, and a name that expressions keep for something else is refused", () => {
  const condition = 'node_outputs["Research"] == "Research" and "Research" in node_outputs';
  const branch = { id: "b", type: "branchNode", position: { x: 600, y: 200 }, data: { label: "Good?", condition } };
  const store = createEditorStore({ ...start, nodes: [...start.nodes, branch] });
  expect(store.getState().rename("a", "execution")).toContain("another name");
  expect(store.getState().rename("a", "Scout")).toBeNull();
  expect(store.getState().data.b?.condition).toBe('node_outputs["Scout"] == "Research" and "Scout" in node_outputs');
});

test("deleting takes loose edges along but never the trigger", () => {
  const { state } = open();
  state().selectAll();
  state().removeSelected();
  expect(
    state()
      .graph()
      .nodes.map((node) => node.id),
  ).toEqual(["t"]);
  expect(state().edges).toEqual([]);
  state().remove(["t"]);
  expect(state().nodes).toHaveLength(1);
  expect(state().announcement.text).toContain("The trigger stays");
});

test("copies get new ids, free names, and references among themselves", () => {
  const { state } = open();
  state().connect({ source: "a", target: "o" });
  state().selectAll();
  state().duplicateSelected();
  const copies = state().nodes.filter((node) => node.selected);
  expect(copies.map((node) => state().data[node.id]?.label)).toEqual(["Research 2", "Output 2"]);
  expect(state().data[copies[1]?.id ?? ""]?.value).toBe("Says {{Research 2.output}} and {{Researcher.output}}");
  expect(state().edges.at(-1)).toMatchObject({ source: copies[0]?.id, target: copies[1]?.id });
  expect(new Set(state().nodes.map((node) => node.id)).size).toBe(5);
});

test("copies read each other in conditions and by slug too, and what they read outside stays", () => {
  const branch = {
    id: "b",
    type: "branchNode",
    position: { x: 600, y: 200 },
    data: { label: "Good?", condition: 'node_outputs["Research"] in node_outputs["Output"]' },
  };
  const value = "{{research.output}} {{trigger.output}}";
  const store = createEditorStore({
    edges: start.edges,
    nodes: [...start.nodes.map((node) => (node.id === "o" ? { ...node, data: { ...node.data, value } } : node)), branch],
  });
  const state = store.getState();
  state.onNodesChange(["a", "b"].map((id) => ({ id, type: "select" as const, selected: true })));
  state.duplicateSelected();
  expect(store.getState().graph().nodes.at(-1)?.data.condition).toBe('node_outputs["Research 2"] in node_outputs["Output"]');
  state.selectAll();
  state.duplicateSelected();
  expect(
    store
      .getState()
      .graph()
      .nodes.map(({ data }) => data.value),
  ).toContain("{{Research 3.output}} {{trigger.output}}");
});

test("a whole graph is added below what is there: without its trigger, under free names that its own texts follow, as one step", () => {
  const { state, past } = open();
  const file: Graph = {
    nodes: [
      { id: "t", type: "triggerNode", position: { x: -300, y: -300 }, data: { label: "Start" } },
      { id: "a", type: "agentNode", position: { x: 0, y: 0 }, data: { label: "Research", input: "{{trigger.output}}" } },
      { id: "b", type: "branchNode", position: { x: 300, y: 40 }, data: { label: "Good?", condition: 'node_outputs["Research"] == ""' } },
      { id: "o", type: "outputNode", position: { x: 600, y: 0 }, data: { label: "End", value: "{{research.output}}" } },
    ],
    edges: [
      { id: "ta", source: "t", target: "a" },
      { id: "ab", source: "a", target: "b" },
      { id: "bo", source: "b", target: "o", sourceHandle: "true" },
    ],
  };
  state().paste(file, positionBelowAll(state()), "import");
  const added = state().nodes.slice(3);
  const [a, b, o] = added.map(({ id }) => id);
  expect(added.map(({ id }) => state().data[id]?.label)).toEqual(["Research 2", "Good?", "End"]);
  expect(state().data[b ?? ""]?.condition).toBe('node_outputs["Research 2"] == ""');
  expect(state().data[o ?? ""]?.value).toBe("{{Research 2.output}}");
  expect(
    state()
      .edges.slice(1)
      .map(({ source, target }) => `${source} ${target}`),
  ).toEqual([`${a} ${b}`, `${b} ${o}`]);
  expect([a, b, o].some((id) => ["t", "a", "b", "o"].includes(id ?? ""))).toBe(false);
  expect(added.map(({ position }) => position)).toEqual([220, 260, 220].map((y, index) => ({ x: index * 300, y })));
  expect(state().nodes.filter((node) => node.selected)).toEqual(added);
  expect(past()).toEqual(["import 3 nodes"]);
  expect(state().announcement.text).toBe("3 nodes added");
  state().undo();
  expect(state().graph()).toEqual(start);
});

test("tidying up sets nodes out from left to right in one step", async () => {
  const { state } = open();
  state().connect({ source: "a", target: "o" });
  state().onNodesChange(moveTo("o", -900, false));
  await state().tidy();
  const [t, a, o] = state()
    .graph()
    .nodes.map((node) => node.position.x);
  expect(t).toBeLessThan(a ?? 0);
  expect(a).toBeLessThan(o ?? 0);
  state().undo();
  expect(state().graph().nodes[2]?.position.x).toBe(-900);
});

test("a document that is open for reading does not change", () => {
  const { state } = open({ isReadOnly: true });
  state().setField("a", "input", "x");
  state().remove(["a"]);
  state().onNodesChange(moveTo("a", 999, true));
  state().onNodesChange([{ id: "a", type: "dimensions", resizing: true, setAttributes: true, dimensions: { width: 999, height: 9 } }]);
  state().resize("a", { width: 999 });
  state().connect({ source: "a", target: "o" });
  state().paste(start);
  expect(state().graph()).toEqual(start);
  expect(state().revision).toBe(0);
});

test("selecting is no change of the document", () => {
  const { state } = open();
  state().selectOnly("a");
  state().onNodesChange([{ id: "o", type: "select", selected: true }]);
  expect(state().revision).toBe(0);
  expect(state().history.past).toEqual([]);
});

const agent = (id: string) => ({ id, type: "agentNode", position: { x: 0, y: 0 }, data: { label: id } });
const arrow = (source: string, target: string, sourceHandle?: string) => ({
  ...{ id: `${source} ${target}`, source, target },
  ...(sourceHandle !== undefined && { sourceHandle }),
});
const trigger = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } };
const after = (graph: Graph, ...ids: string[]) => {
  const store = createEditorStore(graph);
  store.getState().remove(ids);
  const { edges } = store.getState().graph();
  const drawn = edges.map(({ source, target, sourceHandle }) => [source, sourceHandle, target].filter(Boolean).join(" "));
  return { drawn, store, said: store.getState().announcement.text };
};

test("what led to a deleted node leads on to what followed it, and one undo brings it back", () => {
  const graph: Graph = {
    nodes: [trigger, agent("a"), agent("b"), agent("c")],
    edges: [arrow("t", "a"), arrow("a", "b"), arrow("b", "c")],
  };
  const one = after(graph, "a");
  expect(one.drawn).toEqual(["b c", "t b"]);
  expect(one.said).toBe("Agent a deleted; Trigger Start connected to Agent b");
  one.store.getState().undo();
  expect(one.store.getState().graph()).toEqual(graph);
  expect(after(graph, "b", "a").drawn).toEqual(["t c"]);
  expect(after(graph, "c").drawn).toEqual(["t a", "a b"]);
  // A rectangle that is drawn round a node takes its connections along.
  const boxed = createEditorStore(graph);
  boxed.getState().remove(["b"], ["a b", "b c"]);
  expect(boxed.getState().graph().edges).toMatchObject([{ source: "t" }, { source: "a", target: "c" }]);
});

test("several ways in and out are kept, and none is drawn twice or against the rules", () => {
  const meeting: Graph = {
    nodes: [trigger, agent("a"), agent("b"), agent("m"), agent("x"), agent("y")],
    edges: [arrow("t", "a"), arrow("t", "b"), arrow("a", "m"), arrow("b", "m"), arrow("m", "x"), arrow("m", "y"), arrow("a", "x")],
  };
  expect(after(meeting, "m").drawn).toEqual(["t a", "t b", "a x", "a y", "b x", "b y"]);
  const branches: Graph = {
    nodes: [trigger, ...["p", "q"].map((id) => ({ ...agent(id), type: "branchNode", data: { label: id, condition: "True" } })), agent("a")],
    edges: [arrow("t", "p"), arrow("p", "a", "true"), arrow("a", "q")],
  };
  // A branch may not follow a branch.
  expect(after(branches, "a").drawn).toEqual(["t p"]);
});

test("a chain goes on by the first way out of a node that decides; what followed on another has nothing that leads to it", () => {
  const branch: Graph = {
    nodes: [
      trigger,
      { ...agent("d"), type: "branchNode", data: { label: "d", condition: "True" } },
      agent("yes"),
      agent("Scout"),
      agent("end"),
    ],
    edges: [arrow("t", "d"), arrow("d", "Scout", "false"), arrow("d", "yes", "true"), arrow("Scout", "end")],
  };
  const { drawn, store } = after(branch, "d");
  expect(drawn).toEqual(["Scout end", "t yes"]);
  const { problems } = runAtOnce(checkGraph(store.getState().graph(), { agentName: (id) => id }));
  expect(problems.filter(({ severity }) => severity === "warning")).toMatchObject([
    { node_id: "Scout", field: null, message: 'Nothing leads to "Scout", so it never runs.' },
  ]);
  const onlyFalse = { ...branch, edges: branch.edges.filter(({ target }) => target !== "yes") };
  expect(after(onlyFalse, "d").drawn).toEqual(["Scout end", "t Scout"]);
});

test("a loop goes with its body, and what came after it follows what led there", () => {
  const loop: Graph = {
    nodes: [trigger, { ...agent("l"), type: "loopNode", data: { label: "l" } }, agent("in"), agent("deep"), agent("out")],
    edges: [arrow("t", "l"), arrow("l", "in", "body"), arrow("in", "deep"), arrow("l", "out", "done")],
  };
  expect(after(loop, "l").drawn).toEqual(["t out"]);
  expect(after(loop, "in").drawn).toEqual(["t l", "l done out", "l body deep"]);
});

test("a node put into a connection and taken out again leaves the chain as it was", () => {
  const graph: Graph = { nodes: [trigger, agent("a")], edges: [arrow("t", "a")] };
  const store = createEditorStore(graph);
  const id = store.getState().add("branchNode", { position: { x: 0, y: 0 }, edgeId: "t a" });
  expect(store.getState().graph().edges).toMatchObject([
    { source: "t", target: id },
    { source: id, sourceHandle: "true", target: "a" },
  ]);
  store.getState().remove([id]);
  expect(store.getState().graph().edges).toMatchObject([{ source: "t", target: "a" }]);
});

test("a node that was just added is fresh until it is left, or somebody wants to run", () => {
  const store = createEditorStore({ nodes: [], edges: [] });
  const first = store.getState().add("agentNode", { position: { x: 0, y: 0 } });
  expect(store.getState().fresh).toBe(first);
  store.getState().setField(first, "input", "typed");
  expect(store.getState().fresh).toBe(first);
  const second = store.getState().add("agentNode", { position: { x: 0, y: 0 } });
  expect(store.getState().fresh).toBe(second);
  store.getState().selectOnly(first);
  expect(store.getState().fresh).toBeNull();
  store.getState().add("agentNode", { position: { x: 0, y: 0 } });
  store.getState().settle();
  expect(store.getState().fresh).toBeNull();
});

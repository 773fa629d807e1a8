import { applyEdgeChanges, applyNodeChanges, type EdgeChange, type NodeChange } from "@xyflow/react";
import { createStore } from "zustand/vanilla";
import { emptyHistory, type History, recordStep, redo, undo } from "#components/undo-history.ts";
import * as edits from "#components/workflow-editor/canvas/document/edits.ts";
import {
  accessibleName,
  type FlowDocument,
  type FlowEdge,
  type FlowNode,
  labelOf,
  toFlow,
  toGraph,
} from "#components/workflow-editor/canvas/document/flow-document.ts";
import { appendAfter, insertIntoEdge, offOthers } from "#components/workflow-editor/canvas/document/insert-node.ts";
import { toggleCollapsed } from "#components/workflow-editor/canvas/document/loop-edits.ts";
import { replaceDocument, restoreDocument } from "#components/workflow-editor/canvas/document/restore-document.ts";
import { checkConnection, definitionOf } from "#server/workflow/graph.ts";
import { alignLoopsToFrames, frameOf } from "#server/workflow/layout/loop-frames.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";
import type { Graph } from "#server/workflow/schema.ts";

export interface EditorState extends FlowDocument {
  history: History<FlowDocument>;
  /** Counts the changes of the document; selecting and measuring are none. */
  revision: number;
  isReadOnly: boolean;
  /** A node that was just added, until it is left or somebody wants to run it: what it lacks yet is no fault of it. */
  fresh: string | null;
  /** What assistive technology is told; the number makes the same words news again. */
  announcement: { text: string; count: number };

  graph(): Graph;
  /** From now on what is wrong with the node that was just added is told at it too. */
  settle(): void;
  say(text: string): void;
  onNodesChange(changes: NodeChange<FlowNode>[]): void;
  onEdgesChange(changes: EdgeChange<FlowEdge>[]): void;
  /** Joins two nodes, or says why not. */
  connect(ends: edits.Ends): string | null;
  add(type: NodeType, placement: edits.Placement): string;
  /** Sets one config field; quick changes of the same field are one step of undo. */
  setField(nodeId: string, field: string, value: unknown): void;
  /** Gives a node another name, or says why not. */
  rename(nodeId: string, label: string): string | null;
  /** Switches nodes off or on again; the trigger stays on. */
  setDisabled(nodeIds: readonly string[], isDisabled: boolean): void;
  /** Gives a node a size; undefined lets it be as large as what is in it. */
  resize(nodeId: string, size: { width?: number | undefined; height?: number | undefined }): void;
  /** Draws a loop as one card, or as a frame around its body again. */
  toggleCollapsed(loop: string): void;
  /** Moves nodes to these places, as one step. */
  place(name: string, places: ReadonlyMap<string, { x: number; y: number }>): void;
  /** Takes what was made of the present document as one step; `joins` makes it part of the step before, e.g. of a drag. */
  apply(name: string, document: FlowDocument, options?: { joins?: boolean; say?: string }): void;
  remove(nodeIds: readonly string[], edgeIds?: readonly string[]): void;
  removeSelected(): void;
  duplicateSelected(): void;
  /** Adds copies of a graph's nodes; the place is that of their top left corner, or beside where they were. */
  paste(graph: Graph, at?: { x: number; y: number }, verb?: "paste" | "import"): void;
  selectAll(): void;
  selectOnly(nodeId: string | null): void;
  tidy(): Promise<void>;
  undo(): void;
  redo(): void;
  /** Takes another document over this one, as a step that undo takes back. */
  replace(graph: Graph, name: string): void;
}

export type EditorStore = ReturnType<typeof createEditorStore>;

const documentOf = ({ nodes, edges, data }: FlowDocument): FlowDocument => ({ nodes, edges, data });

/**
 * The editor's working copy of a workflow: document, selection, and fifty steps of undo. One per open editor or run page.
 * @param now clock in milliseconds, for joining quick edits into one step
 */
export function createEditorStore(graph: Graph, options: { isReadOnly?: boolean; now?: () => number } = {}) {
  const now = options.now ?? Date.now;
  let isHeld = false;

  const store = createStore<EditorState>()((set, get) => {
    /** Takes a changed document as one step of undo. */
    const commit = (name: string, document: FlowDocument, key?: string) =>
      set((state) => {
        const next = document.nodes === state.nodes && document.edges === state.edges ? document : alignLoopsToFrames(document);
        return { ...next, history: recordStep(state.history, name, documentOf(state), now(), key), revision: state.revision + 1 };
      });
    const named = (nodeId: string) => {
      const { nodes, data } = get();
      return accessibleName(nodes.find((node) => node.id === nodeId)?.type, data[nodeId]);
    };
    const isTrigger = (node: FlowNode) => definitionOf(node.type ?? "")?.group === "trigger";
    const step = (move: typeof undo, verb: string) => {
      const state = get();
      if (state.isReadOnly) return;
      const result = move(state.history, documentOf(state));
      if (!result) return state.say(`Nothing to ${verb}`);
      set({ ...restoreDocument(result.step.document, state), history: result.history, revision: state.revision + 1 });
      state.say(`${verb === "undo" ? "Undone" : "Redone"}: ${result.step.name}`);
    };

    return {
      ...toFlow(graph),
      history: emptyHistory,
      revision: 0,
      isReadOnly: options.isReadOnly ?? false,
      fresh: null,
      announcement: { text: "", count: 0 },

      graph: () => toGraph(get()),
      settle: () => get().fresh !== null && set({ fresh: null }),
      say: (text) => set((state) => ({ announcement: { text, count: state.announcement.count + 1 } })),

      onNodesChange(changes) {
        const state = get();
        const edit = state.isReadOnly ? null : editFromChanges(changes);
        const isRefused = (change: NodeChange<FlowNode>) => state.isReadOnly && (change.type === "position" || isResize(change));
        const kept = changes.filter((change) => change.type !== "remove" && !isRefused(change)).map(roundSize);
        const nodes = applyNodeChanges(kept, state.nodes);
        if (!edit || (edit.isEnd && !isHeld)) return set({ nodes });
        // One step for a whole drag, and one for a burst of arrow keys.
        const starts = !isHeld;
        isHeld = edit.isHeld;
        const history = starts ? recordStep(state.history, edit.name(named), documentOf(state), now(), edit.key) : state.history;
        set({ ...(isHeld ? { nodes } : alignLoopsToFrames({ ...documentOf(state), nodes })), history, revision: state.revision + 1 });
      },
      onEdgesChange: (changes) =>
        set((state) => ({
          edges: applyEdgeChanges(
            changes.filter((change) => change.type !== "remove"),
            state.edges,
          ),
        })),

      connect(ends) {
        const state = get();
        if (state.isReadOnly) return "This workflow is open for reading only.";
        const refusal = checkConnection(state.graph(), ends);
        if (refusal) {
          state.say(refusal);
          return refusal;
        }
        commit(`connect ${labelOf(state.data[ends.source])} to ${labelOf(state.data[ends.target])}`, edits.connectNodes(state, ends));
        state.say(`${named(ends.source)} connected to ${named(ends.target)}`);
        return null;
      },
      add(type, { position, after, edgeId, isExact = false }) {
        const state = get();
        const made = edits.addNode(documentOf(state), type, position);
        const { document: loose, id } = made;
        const document = edgeId
          ? insertIntoEdge(loose, edgeId, id)
          : after
            ? appendAfter(loose, after, id)
            : isExact
              ? loose
              : offOthers(loose, id);
        commit(`add ${accessibleName(type, document.data[made.id])}`, document);
        set({ fresh: id });
        state.say(`${named(made.id)} added`);
        return made.id;
      },
      setField(nodeId, field, value) {
        const state = get();
        const current = state.data[nodeId];
        if (state.isReadOnly || !current || Object.is(current[field], value)) return;
        const data = { ...state.data, [nodeId]: { ...current, [field]: value } };
        const document = edits.withWaysOf({ ...documentOf(state), data }, nodeId);
        commit(`change ${field.replaceAll("_", " ")} of ${named(nodeId)}`, document, `field ${nodeId} ${field}`);
      },
      rename(nodeId, label) {
        const state = get();
        const wanted = label.trim();
        if (state.isReadOnly || wanted === labelOf(state.data[nodeId], state.nodes.find((node) => node.id === nodeId)?.type)) return null;
        const refusal = edits.validateLabel(state, nodeId, wanted);
        if (refusal) return refusal;
        commit(`rename ${named(nodeId)}`, edits.renameNode(documentOf(state), nodeId, wanted));
        return null;
      },
      remove(nodeIds, edgeIds = []) {
        const state = get();
        if (state.isReadOnly) return;
        const kept = state.nodes.filter((node) => nodeIds.includes(node.id) && isTrigger(node));
        const doomed = [...edits.withBodies(state, nodeIds)].filter((id) => !kept.some((node) => node.id === id));
        if (doomed.length + edgeIds.length === 0) {
          if (kept.length) state.say("The trigger stays: a workflow needs one. Change its kind instead.");
          return;
        }
        const first = doomed[0];
        const what =
          nodeIds.length === 1 && first
            ? `${named(first)}${doomed.length > 1 ? ` with the ${doomed.length - 1} in it` : ""}`
            : doomed.length > 1
              ? `${doomed.length} nodes`
              : edgeIds.length === 1
                ? "connection"
                : `${edgeIds.length} connections`;
        const { document, joined } = edits.removeItems(documentOf(state), new Set(doomed), new Set(edgeIds));
        commit(`delete ${what}`, document);
        const [only] = joined;
        const bridged =
          joined.length > 1 ? "; its neighbours are connected" : only ? `; ${named(only.source)} connected to ${named(only.target)}` : "";
        state.say(`${what} deleted${bridged}${kept.length ? "; the trigger stays" : ""}`);
      },
      removeSelected() {
        const { nodes, edges, remove } = get();
        const ids = (items: readonly { id: string; selected?: boolean }[]) => items.filter((item) => item.selected).map((item) => item.id);
        remove(ids(nodes), ids(edges));
      },
      duplicateSelected: () => get().paste(edits.selectedGraph(get())),
      paste(copied, at, verb = "paste") {
        const state = get();
        if (state.isReadOnly) return;
        const { document, count } = edits.addCopies(documentOf(state), copied, at);
        if (count === 0) return state.say(`Nothing to ${verb}: a workflow has one trigger, and it stays where it is.`);
        commit(`${verb} ${count === 1 ? "a node" : `${count} nodes`}`, document);
        state.say(`${count === 1 ? "1 node" : `${count} nodes`} added`);
      },
      selectAll: () =>
        set((state) => ({
          nodes: state.nodes.map((node) => ({ ...node, selected: true })),
          edges: state.edges.map((edge) => ({ ...edge, selected: true })),
        })),
      selectOnly: (nodeId) =>
        set((state) => ({
          nodes: state.nodes.map((node) =>
            (node.selected ?? false) === (node.id === nodeId) ? node : { ...node, selected: node.id === nodeId },
          ),
          edges: state.edges.map((edge) => (edge.selected ? { ...edge, selected: false } : edge)),
        })),
      setDisabled(nodeIds, isDisabled) {
        const state = get();
        const changed = state.nodes.filter((node) => nodeIds.includes(node.id) && !isTrigger(node));
        if (state.isReadOnly || changed.length === 0) return;
        const data = { ...state.data };
        for (const { id } of changed) {
          const { disabled, ...rest } = data[id] ?? {};
          data[id] = isDisabled ? { ...rest, disabled: true } : rest;
        }
        const what = changed.length === 1 && changed[0] ? named(changed[0].id) : `${changed.length} nodes`;
        const name = `${isDisabled ? "disable" : "enable"} ${what}`;
        state.apply(name, { ...documentOf(state), data }, { say: `${what} ${isDisabled ? "disabled" : "enabled"}` });
      },
      resize(nodeId, size) {
        const state = get();
        if (state.isReadOnly) return;
        const nodes = state.nodes.map((node) => (node.id === nodeId ? ({ ...node, ...size } as FlowNode) : node));
        // Typing in one field is one step; letting go of both is one of its own.
        const fields = Object.keys(size);
        commit(`resize ${named(nodeId)}`, { ...documentOf(state), nodes }, fields.length === 1 ? `${fields[0]} ${nodeId}` : undefined);
      },
      toggleCollapsed(loop) {
        const state = get();
        const verb = state.data[loop]?.collapsed === true ? "expand" : "collapse";
        const next = toggleCollapsed(documentOf(state), loop, frameOf(state, loop));
        // Who may only look still looks inside; it is no change of the work.
        if (state.isReadOnly) set(alignLoopsToFrames(next));
        else state.apply(`${verb} ${named(loop)}`, next);
        state.say(`${named(loop)} ${verb}${verb === "expand" ? "ed" : "d"}`);
      },
      place(name, places) {
        const state = get();
        const nodes = state.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position }));
        state.apply(name, { ...documentOf(state), nodes });
      },
      apply(name, document, { joins = false, say } = {}) {
        const state = get();
        if (state.isReadOnly) return;
        if (joins) set({ ...alignLoopsToFrames(document), revision: state.revision + 1 });
        else commit(name, document);
        if (say) state.say(say);
      },
      async tidy() {
        if (get().isReadOnly) return;
        // Loaded with its first use: what sets graphs out is large, and few need it at once.
        const { tidyPositions } = await import("#server/workflow/layout/tidy.ts");
        const state = get();
        if (state.nodes.length === 0) return;
        state.place("tidy up", tidyPositions(documentOf(state)));
        state.say("Nodes set out from left to right");
      },
      undo: () => step(undo, "undo"),
      redo: () => step(redo, "redo"),
      replace: (next, name) => commit(name, replaceDocument(toFlow(next), get())),
    };
  });
  // Left is what is no longer selected.
  store.subscribe(({ fresh, nodes }) => {
    if (fresh !== null && !nodes.some(({ id, selected }) => id === fresh && selected)) store.setState({ fresh: null });
  });
  return store;
}

/** What React Flow tells of nodes that are moved or resized, as an edit of the document. */
export interface PointerEdit {
  /** What is done, for undo; `named` says what a node is called. */
  name(named: (nodeId: string) => string): string;
  /** Whether the pointer still holds them: all until it lets go is one step of undo. */
  isHeld: boolean;
  /** Only the letting go: nothing changes with it. */
  isEnd: boolean;
  /** The burst that this belongs to, of moves by arrow keys. */
  key: string | undefined;
}

/** True for a size that somebody gives a node by dragging its corner; other dimensions are only measured. */
export const isResize = (change: NodeChange<FlowNode>): boolean => change.type === "dimensions" && change.setAttributes !== undefined;

/** The edit in these changes; null when they only select, or tell what was measured. */
export function editFromChanges(changes: readonly NodeChange<FlowNode>[]): PointerEdit | null {
  const moves = changes.flatMap((change) => (change.type === "position" && change.position ? [change] : []));
  const sizes = changes.flatMap((change) => (change.type === "dimensions" && change.resizing !== undefined ? [change] : []));
  const [first] = sizes.length ? sizes : moves;
  if (!first) return null;
  const isHeld = sizes.some((change) => change.resizing) || moves.some((change) => change.dragging);
  return {
    name: (named) =>
      sizes.length ? `resize ${named(first.id)}` : `move ${moves.length === 1 ? named(first.id) : `${moves.length} nodes`}`,
    isHeld,
    isEnd: sizes.length > 0 && !isHeld,
    key: isHeld || sizes.length ? undefined : `keys ${moves.map(({ id }) => id).join(" ")}`,
  };
}

/** Whole numbers instead of what the pointer and the zoom make of a size. */
export const roundSize = (change: NodeChange<FlowNode>): NodeChange<FlowNode> =>
  change.type === "dimensions" && change.dimensions && isResize(change)
    ? { ...change, dimensions: { width: Math.round(change.dimensions.width), height: Math.round(change.dimensions.height) } }
    : change;

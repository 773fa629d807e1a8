"use client";

import type { NodeChange } from "@xyflow/react";
import { useCallback, useMemo, useRef } from "react";
import { toast } from "sonner";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/canvas/canvas-context.tsx";
import type { EditorState } from "#components/canvas/editor-store.ts";
import type { FlowEdge, FlowNode } from "#components/canvas/flow-mapping.ts";
import { moveToLoop } from "#components/canvas/loop-edits.ts";
import {
  type Bodies,
  bodiesOf,
  carriedMoves,
  type Frame,
  foldedEdges,
  frameAt,
  framesOf,
  insideOf,
  isCollapsed,
  isLoop,
  loopsAround,
  sameBodies,
} from "#components/canvas/loop-frames.ts";
import { sizeOf } from "#components/canvas/node-size.ts";
import { definitionOf } from "#server/engine/graph.ts";

/** Below every card and line, the inner ones above the outer ones. */
const FRAME_LAYER = -200;

/** Reads something of the document that changes seldom: the same object as long as it says the same. */
function stableSelector<Value>(read: (state: EditorState) => Value, isSame: (a: Value, b: Value) => boolean) {
  let seen: { nodes: readonly string[]; edges: unknown; data: unknown } | undefined;
  let value: Value | undefined;
  return (state: EditorState): Value => {
    const isKnown =
      seen !== undefined &&
      seen.edges === state.edges &&
      seen.data === state.data &&
      seen.nodes.length === state.nodes.length &&
      state.nodes.every((node, index) => node.id === seen?.nodes[index]);
    if (isKnown && value !== undefined) return value;
    seen = { nodes: state.nodes.map((node) => node.id), edges: state.edges, data: state.data };
    const next = read(state);
    if (value === undefined || !isSame(value, next)) value = next;
    return value;
  };
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>) => a.size === b.size && [...a].every((id) => b.has(id));
const collapsedIn = ({ nodes, data }: EditorState): ReadonlySet<string> =>
  new Set(nodes.filter((node) => isLoop(node.type) && isCollapsed(data[node.id])).map(({ id }) => id));

/** A loop as React Flow draws it: a frame that lets the pointer through, taken hold of at its head. */
function framed(node: FlowNode, frame: Frame, depth: number): FlowNode {
  const { x, y, width, height, entry } = frame;
  return {
    ...node,
    ...{ position: { x, y }, width, height, dragHandle: ".loop-head", zIndex: FRAME_LAYER + depth },
    ...{ style: { pointerEvents: "none" }, data: { entry } },
  };
}

/** Nodes as drawn; one that looks as it did is the same object, so React Flow leaves it alone. */
function useDrawn(
  nodes: readonly FlowNode[],
  bodies: Bodies,
  frames: ReadonlyMap<string, Frame>,
  collapsed: ReadonlySet<string>,
): FlowNode[] {
  const cache = useRef(new WeakMap<FlowNode, { key: string; drawn: FlowNode }>());
  return useMemo(() => {
    if (bodies.loops.length === 0) return nodes as FlowNode[];
    return nodes.map((node) => {
      const frame = frames.get(node.id);
      const isHidden = collapsed.size > 0 && loopsAround(bodies, node.id).some((loop) => collapsed.has(loop));
      const isCard = collapsed.has(node.id) && !isHidden;
      if (!frame && !isHidden && !isCard) return node;
      const hides = isCard ? insideOf(bodies, node.id).size : 0;
      const depth = loopsAround(bodies, node.id).length;
      const key = isHidden
        ? "hidden"
        : isCard
          ? `hides ${hides}`
          : `${frame?.x} ${frame?.y} ${frame?.width} ${frame?.height} ${frame?.entry} ${depth}`;
      const known = cache.current.get(node);
      if (known?.key === key) return known.drawn;
      const drawn = isCard ? { ...node, data: { hides } } : isHidden || !frame ? { ...node, hidden: true } : framed(node, frame, depth);
      cache.current.set(node, { key, drawn });
      return drawn;
    });
  }, [nodes, bodies, frames, collapsed]);
}

/**
 * Loops on the canvas: nodes and edges as drawn, moves of frames that take their bodies along, and nodes dropped into a
 * frame or out of it.
 */
export function useFrames(nodes: FlowNode[], edges: FlowEdge[]) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const selectBodies = useMemo(() => stableSelector((state) => bodiesOf(state), sameBodies), []);
  const selectCollapsed = useMemo(() => stableSelector(collapsedIn, sameSet), []);
  const bodies = useEditor(selectBodies);
  const collapsed = useEditor(selectCollapsed);
  const held = useCanvasUi((state) => state.heldFrames);
  const frames = useMemo(() => framesOf({ nodes, edges }, bodies, collapsed, held), [nodes, edges, bodies, collapsed, held]);
  const drawnNodes = useDrawn(nodes, bodies, frames, collapsed);
  const drawnEdges = useMemo(() => (collapsed.size ? foldedEdges(edges, bodies, collapsed) : edges), [edges, bodies, collapsed]);
  const now = useRef({ bodies, frames });
  now.current = { bodies, frames };

  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      const state = editor.getState();
      const moves = new Map(
        changes.flatMap((change) => (change.type === "position" && change.position ? [[change.id, change.position]] : [])),
      );
      const isLoopMoved = state.nodes.some((node) => moves.has(node.id) && isLoop(node.type));
      if (!isLoopMoved) return state.onNodesChange(changes);
      const dragging = changes.some((change) => change.type === "position" && change.dragging);
      const places = carriedMoves(moves, state.nodes, now.current.bodies, now.current.frames);
      const carried = [...places]
        .filter(([id]) => !moves.has(id))
        .map(([id, position]) => ({ id, type: "position" as const, position, dragging }));
      state.onNodesChange([...changes, ...carried]);
    },
    [editor],
  );

  /** The frames under the nodes that are dragged, as it began. */
  const startedIn = useRef<ReadonlyMap<string, string | null>>(new Map());
  /** Nodes under the pointer that could change their loop: those that are not carried along by a loop. */
  const loose = (dragged: readonly FlowNode[]): FlowNode[] => {
    const ids = new Set(dragged.map(({ id }) => id));
    return dragged.filter(
      ({ id, type }) => !definitionOf(type ?? "")?.isInert && !loopsAround(now.current.bodies, id).some((loop) => ids.has(loop)),
    );
  };
  const under = (node: FlowNode): string | null => {
    const { width, height } = sizeOf(node);
    const size = isLoop(node.type) ? { width: 0, height: 0 } : { width, height };
    const own = new Set([node.id, ...insideOf(now.current.bodies, node.id)]);
    const point = { x: node.position.x + size.width / 2, y: node.position.y + size.height / 2 };
    return frameAt(now.current.frames, now.current.bodies, point, own);
  };

  /** True for a node that comes into another frame by being dragged; one that only lay under it before stays what it was. */
  const isElsewhere = (node: FlowNode): boolean => {
    const frame = under(node);
    return frame !== (now.current.bodies.owner[node.id] ?? null) && frame !== startedIn.current.get(node.id);
  };

  const onDragStart = (dragged: readonly FlowNode[]) => {
    startedIn.current = new Map(loose(dragged).flatMap((node) => [[node.id, under(node)] as const]));
    if (now.current.bodies.loops.length === 0) return;
    const around = new Set(loose(dragged).flatMap(({ id }) => loopsAround(now.current.bodies, id)));
    ui.setState({ heldFrames: new Map([...now.current.frames].filter(([loop]) => around.has(loop))) });
  };
  const onDrag = (dragged: readonly FlowNode[]) => {
    if (now.current.bodies.loops.length === 0) return;
    const [first] = loose(dragged);
    const dropLoop = first && isElsewhere(first) ? under(first) : null;
    if (ui.getState().dropLoop !== dropLoop) ui.setState({ dropLoop });
  };
  const onDragStop = (dragged: readonly FlowNode[]) => {
    const state = editor.getState();
    const moved = loose(dragged).filter(isElsewhere);
    const [first] = moved;
    const target = first ? under(first) : null;
    ui.setState({ heldFrames: NONE_HELD, dropLoop: null });
    if (!first || state.isReadOnly) return;
    const edit = moveToLoop(
      state,
      moved.filter((node) => under(node) === target).map(({ id }) => id),
      target,
    );
    if ("document" in edit) return state.apply("move", edit.document, { joins: true, say: edit.say });
    // Back to where they came from: what lies in a frame belongs to it.
    state.undo();
    toast.error(edit.refusal);
    state.say(edit.refusal);
  };
  /** A node that was just added belongs to the frame that it lies in. */
  const settle = (nodeId: string) => {
    const state = editor.getState();
    const node = state.nodes.find((candidate) => candidate.id === nodeId);
    const loop = node ? under(node) : null;
    if (!node || loop === null || definitionOf(node.type ?? "")?.isInert) return;
    const edit = moveToLoop(state, [nodeId], loop);
    if ("document" in edit) state.apply("add", edit.document, { joins: true, say: edit.say });
    else toast.error(edit.refusal);
  };
  return { nodes: drawnNodes, edges: drawnEdges, frames, bodies, onNodesChange, onDragStart, onDrag, onDragStop, settle };
}

/** No frame is kept from following its body. */
export const NONE_HELD: ReadonlyMap<string, Frame> = new Map();

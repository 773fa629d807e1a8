"use client";

import { type NodeChange, useReactFlow } from "@xyflow/react";
import { type DragEvent, useCallback, useEffect, useMemo, useRef } from "react";
import { toast } from "#components/ui/toaster.tsx";
import type { FlowEdge, FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { moveToLoop } from "#components/workflow-editor/canvas/document/loop-edits.ts";
import { NODE_DRAG_TYPE, NOTE_DRAG_TYPE } from "#components/workflow-editor/canvas/document/node-choices.ts";
import {
  draggedRoots,
  frameBeingLeft,
  frameForBox,
  frameUnderNode,
  grabbedNode,
  nodesChangingLoop,
  type Point,
  type PointerGrab,
} from "#components/workflow-editor/canvas/geometry/loop-drop.ts";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { EditorState, EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import {
  type Bodies,
  bodiesOf,
  collapsedLoopIds,
  descendantsOf,
  edgesBesideCollapsed,
  equalBodies,
  type Frame,
  framesOf,
  isLoop,
  loopsAround,
  withBodyMoves,
} from "#server/workflow/layout/loop-frames.ts";
import { makeRoomForFrames } from "#server/workflow/layout/make-room.ts";
import { CARD_WIDTH } from "#server/workflow/layout/node-size.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

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
      const hides = isCard ? descendantsOf(bodies, node.id).size : 0;
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
export function useLoopFrames(nodes: FlowNode[], edges: FlowEdge[]) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();
  const grip = usePointerGrab();
  const selectBodies = useMemo(() => stableSelector((state) => bodiesOf(state), equalBodies), []);
  const selectCollapsed = useMemo(() => stableSelector(collapsedLoopIds, sameSet), []);
  const bodies = useEditor(selectBodies);
  const collapsed = useEditor(selectCollapsed);
  const held = useCanvasUi((state) => state.heldFrames);
  const frames = useMemo(() => framesOf({ nodes, edges }, bodies, collapsed, held), [nodes, edges, bodies, collapsed, held]);
  const drawnNodes = useDrawn(nodes, bodies, frames, collapsed);
  const drawnEdges = useMemo(() => (collapsed.size ? edgesBesideCollapsed(edges, bodies, collapsed) : edges), [edges, bodies, collapsed]);
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
      const places = withBodyMoves(moves, state.nodes, now.current.bodies, now.current.frames);
      const carried = [...places]
        .filter(([id]) => !moves.has(id))
        .map(([id, position]) => ({ id, type: "position" as const, position, dragging }));
      state.onNodesChange([...changes, ...carried]);
    },
    [editor],
  );

  /** The frame that what is dragged lay over as it began. */
  const startedIn = useRef<string | null>(null);
  const overFrame = (held: FlowNode): string | null => frameUnderNode(held, grip().point, now.current.frames, now.current.bodies);
  const show = (dropLoop: string | null, leftLoop: string | null) => {
    const shown = ui.getState();
    if (shown.dropLoop !== dropLoop || shown.leftLoop !== leftLoop) ui.setState({ dropLoop, leftLoop });
  };
  /** Where all that is dragged goes with the node taken hold of; undefined when it stays where it belongs. */
  const destination = (dragged: readonly FlowNode[]): { held: string; loop: string | null } | undefined => {
    const held = grabbedNode(dragged, now.current.bodies, grip());
    if (!held) return undefined;
    const loop = overFrame(held);
    // What only lay under a frame before stays what it was.
    const isElsewhere = loop !== (now.current.bodies.owner[held.id] ?? null) && loop !== startedIn.current;
    return isElsewhere ? { held: held.id, loop } : undefined;
  };

  const onDragStart = (dragged: readonly FlowNode[]) => {
    const held = grabbedNode(dragged, now.current.bodies, grip());
    startedIn.current = held ? overFrame(held) : null;
    if (now.current.bodies.loops.length === 0) return;
    const around = new Set(draggedRoots(dragged, now.current.bodies).flatMap(({ id }) => loopsAround(now.current.bodies, id)));
    ui.setState({ heldFrames: new Map([...now.current.frames].filter(([loop]) => around.has(loop))) });
  };
  const onDrag = (dragged: readonly FlowNode[]) => {
    if (now.current.bodies.loops.length === 0) return;
    const to = destination(dragged);
    show(to?.loop ?? null, to ? frameBeingLeft(to.held, to.loop, now.current.bodies) : null);
  };
  const onDragStop = (dragged: readonly FlowNode[]) => {
    const state = editor.getState();
    const to = destination(dragged);
    const { bodies, frames } = now.current;
    const { heldFrames } = ui.getState();
    ui.setState({ heldFrames: NO_HELD_FRAMES });
    show(null, null);
    if (state.isReadOnly) return;
    if (!to) {
      // Its own frame has waited for it, and now follows.
      const owner = bodies.owner[grabbedNode(dragged, bodies, grip())?.id ?? ""] ?? null;
      const document = { nodes: state.nodes, edges: state.edges, data: state.data };
      const roomy = makeRoomForFrames(document, owner, heldFrames);
      if (roomy !== document) state.apply("move", roomy, { joins: true });
      return;
    }
    const edit = moveToLoop(state, nodesChangingLoop(to.loop, dragged, bodies), to.loop);
    if ("document" in edit) {
      state.apply("move", makeRoomForFrames(edit.document, to.loop, frames), { joins: true, say: edit.say });
      return toastDisconnected(editor, edit.cut);
    }
    // Back to where they came from: what lies in a frame belongs to it.
    state.undo();
    toast.error(edit.refusal);
    state.say(edit.refusal);
  };

  /** The frame that would take a new card, which is held under the pointer by its head. */
  const frameForNew = (point: Point): string | null => {
    const box = { ...newCardAt(point), width: CARD_WIDTH, height: NEW_HEIGHT };
    return frameForBox(box, point, now.current.frames, now.current.bodies);
  };
  /** Something from the Add panel is dragged over the canvas: the frame that would take it shows it. */
  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(NODE_DRAG_TYPE)) return;
    event.preventDefault();
    const isNote = event.dataTransfer.types.includes(NOTE_DRAG_TYPE);
    const isAsked = !isNote && !editor.getState().isReadOnly;
    show(isAsked ? frameForNew(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })) : null, null);
  };
  /** It went elsewhere, or was given up with Escape. */
  const onDragLeave = (event: DragEvent) => {
    const to = event.relatedTarget;
    if (!(to instanceof Node && event.currentTarget.contains(to))) show(null, null);
  };
  /** Puts a new node where the pointer dropped it, and into the frame there. */
  const drop = (type: NodeType, point: Point) => {
    show(null, null);
    const loop = definitionOf(type)?.isInert ? null : frameForNew(point);
    const { frames } = now.current;
    const id = editor.getState().add(type, { position: newCardAt(point), isExact: true });
    if (type === "noteNode") ui.setState({ writing: id });
    if (loop === null) return;
    const state = editor.getState();
    const edit = moveToLoop(state, [id], loop);
    if ("document" in edit) state.apply("add", makeRoomForFrames(edit.document, loop, frames), { joins: true, say: edit.say });
    else toast.error(edit.refusal);
  };
  return {
    nodes: drawnNodes,
    edges: drawnEdges,
    frames,
    bodies,
    onNodesChange,
    onDragStart,
    onDrag,
    onDragStop,
    onDragOver,
    onDragLeave,
    drop,
  };
}

/** A card that is held by its head, under the pointer. */
const newCardAt = ({ x, y }: Point): Point => ({ x: x - CARD_WIDTH / 2, y: y - 20 });
const NEW_HEIGHT = 120;

/** No frame is kept from following its body. */
export const NO_HELD_FRAMES: ReadonlyMap<string, Frame> = new Map();

/** Tells what the pointer took hold of when it was last pressed, and where on the canvas it is now. */
export function usePointerGrab(): () => PointerGrab {
  const flow = useReactFlow();
  const last = useRef<{ x: number; y: number; nodeId: string | null } | null>(null);
  useEffect(() => {
    const onDown = ({ target, clientX: x, clientY: y }: PointerEvent) => {
      const node = target instanceof Element ? target.closest<HTMLElement>(".react-flow__node") : null;
      last.current = { x, y, nodeId: node?.dataset.id ?? null };
    };
    const onMove = ({ clientX: x, clientY: y }: PointerEvent) => {
      if (last.current) last.current = { ...last.current, x, y };
    };
    // Before anyone can keep the event to themselves, as dragging does.
    window.addEventListener("pointerdown", onDown, true);
    window.addEventListener("pointermove", onMove, { capture: true, passive: true });
    return () => {
      window.removeEventListener("pointerdown", onDown, true);
      window.removeEventListener("pointermove", onMove, true);
    };
  }, []);
  return useCallback(() => {
    const at = last.current;
    return { nodeId: at?.nodeId ?? null, point: at && flow.screenToFlowPosition(at, { snapToGrid: false }) };
  }, [flow]);
}

/** So many names are told; of more, how many there are. */
const MAX_NAMES = 3;

/** Long enough to look what has become of the canvas, and to take it back. */
const SHOWN_MS = 10_000;

/** "Disconnected from A, B, and 2 others". */
export function disconnectedMessage(names: readonly string[]): string {
  const [shown, more] = [names.slice(0, MAX_NAMES), names.length - MAX_NAMES];
  const list = more > 0 ? [...shown, `${more} ${more === 1 ? "other" : "others"}`] : shown;
  return `Disconnected from ${new Intl.ListFormat("en").format(list)}`;
}

/** Tells which connections a move has cost. It offers to take the move back as long as that is the last step. */
export function toastDisconnected(editor: EditorStore, names: readonly string[]): void {
  if (names.length === 0) return;
  const step = editor.getState().history;
  const id = toast.info(disconnectedMessage(names), {
    duration: SHOWN_MS,
    action: { label: "Undo", onClick: () => editor.getState().undo() },
    onDismiss: () => stop(),
    onAutoClose: () => stop(),
  });
  const stop = editor.subscribe(({ history }) => {
    if (history === step) return;
    stop();
    toast.dismiss(id);
  });
}

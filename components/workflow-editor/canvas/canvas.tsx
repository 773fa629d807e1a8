"use client";

import "@xyflow/react/dist/base.css";
import "#components/workflow-editor/canvas/canvas.css";
import {
  ConnectionLineType,
  ReactFlow,
  ReactFlowProvider,
  type ReactFlowState,
  useReactFlow,
  useStore,
  ViewportPortal,
} from "@xyflow/react";
import { useRouter } from "next/navigation";
import { type DragEvent, type ReactNode, useCallback, useEffect, useId, useRef } from "react";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { CanvasMinimap } from "#components/workflow-editor/canvas/canvas-minimap.tsx";
import { CanvasSearch } from "#components/workflow-editor/canvas/canvas-search.tsx";
import { FlowEdge } from "#components/workflow-editor/canvas/cards/flow-edge.tsx";
import { useSeenSize } from "#components/workflow-editor/canvas/cards/light-card.tsx";
import { NodeCard } from "#components/workflow-editor/canvas/cards/node-card.tsx";
import { CanvasTools, ControlBar } from "#components/workflow-editor/canvas/control-bar.tsx";
import { placementAfter, placementInSelectedEdge, soleEndNode } from "#components/workflow-editor/canvas/document/edits.ts";
import { NODE_DRAG_TYPE } from "#components/workflow-editor/canvas/document/node-choices.ts";
import { MoreNodes } from "#components/workflow-editor/canvas/more-nodes.tsx";
import { ConnectPicker, Palette } from "#components/workflow-editor/canvas/pickers.tsx";
import {
  useCanvasUi,
  useCanvasUiStore,
  useEditor,
  useEditorShallow,
  useEditorStore,
} from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useCanvasKeys } from "#components/workflow-editor/canvas/use-canvas-keys.ts";
import { useConnecting } from "#components/workflow-editor/canvas/use-connecting.ts";
import { useLoopFrames } from "#components/workflow-editor/canvas/use-loop-frames.ts";
import {
  FIT,
  useFirstView,
  useKeepFit,
  useNodeInAddress,
  useReveal,
  useRevealWaiting,
} from "#components/workflow-editor/canvas/use-view.ts";
import { useViewMotion } from "#components/workflow-editor/canvas/use-view-motion.ts";
import { nodeUis } from "#components/workflow-editor/nodes/registry.gen.ts";
import { atDrawnPosition, PORT_HEIGHT } from "#server/workflow/layout/loop-frames.ts";
import { CARD_WIDTH, NEXT_NODE_DISTANCE } from "#server/workflow/layout/node-size.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

// Loaded when it is first looked at.
const ShortcutsDialog = loadedOnUse(() =>
  import("#components/workflow-editor/canvas/shortcuts-dialog.tsx").then((module) => module.ShortcutsDialog),
);

// Loaded when the pointer first comes to a node, one is selected, or a menu is asked for.
const loadActions = () => import("#components/workflow-editor/canvas/node-actions.tsx");
const HoverToolbar = loadedOnUse(() => loadActions().then((module) => module.HoverToolbar));
const NodeMenu = loadedOnUse(() => loadActions().then((module) => module.NodeMenu), HeldKeys);

/** Keys that are pressed while a menu is on its way are not for the canvas. */
function HeldKeys(): null {
  useEffect(() => {
    const hold = (event: KeyboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener("keydown", hold, { capture: true });
    return () => removeEventListener("keydown", hold, { capture: true });
  }, []);
  return null;
}

const nodeTypes = { default: NodeCard, ...Object.fromEntries(Object.keys(nodeUis).map((type) => [type, NodeCard])) };
const edgeTypes = { default: FlowEdge, flow: FlowEdge };
const ZOOM = { min: 0.1, max: 2 };
const SNAP_GRID: [number, number] = [10, 10];

export interface CanvasProps {
  /** Further controls at the end of the floating bar. */
  controls?: ReactNode;
  /** Over the canvas, e.g. notices and hints. */
  children?: ReactNode;
  onNodeOpen?: (nodeId: string) => void;
  /** Ids of the nodes that one sees first, or the beginning, as large as it can be read; left out, the whole workflow. */
  firstView?: readonly string[] | "beginning";
}

/** The workflow as one sees it. Draws the stores around it (CanvasProvider, RunProvider); edits go through them. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <CanvasSurface {...props} />
    </ReactFlowProvider>
  );
}

function CanvasSurface({ controls, children, onNodeOpen, firstView }: CanvasProps) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();
  const router = useRouter();
  const flowId = useId();
  const area = useRef<HTMLElement>(null);
  const pointer = useRef<{ x: number; y: number } | null>(null);
  const { nodes, edges, isReadOnly, onEdgesChange } = useEditorShallow((state) => ({
    nodes: state.nodes,
    edges: state.edges,
    isReadOnly: state.isReadOnly,
    onEdgesChange: state.onEdgesChange,
  }));
  const loops = useLoopFrames(nodes, edges);
  const isHelpOpen = useCanvasUi((state) => state.isHelpOpen);
  const tool = useCanvasUi((state) => state.tool);
  const isSnapping = useCanvasUi((state) => state.isSnapping);

  const focusCanvas = useCallback(() => {
    const from = document.activeElement;
    const selected = editor.getState().nodes.find((node) => node.selected);
    // A new node is drawn a moment later, and hidden until it is measured.
    let tries = 30;
    const attempt = () => {
      const now = document.activeElement;
      // Who has gone to a field meanwhile keeps it: letters that are meant for it would work on the canvas.
      if (now !== from && now?.matches("input, textarea, [contenteditable]") && !now.closest(".react-flow__node")) return;
      const node = selected && area.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(selected.id)}"]`);
      node?.focus({ preventScroll: true });
      if (node && document.activeElement === node) return;
      area.current?.focus({ preventScroll: true });
      const isWaiting = document.activeElement === area.current;
      if (selected && isWaiting && tries-- > 0) requestAnimationFrame(attempt);
    };
    requestAnimationFrame(attempt);
  }, [editor]);

  /** The canvas point under the pointer, or in the middle when the pointer is elsewhere. */
  const point = useCallback(() => {
    const box = area.current?.getBoundingClientRect();
    const middle = box ? { x: box.left + box.width / 2 - CARD_WIDTH / 2, y: box.top + box.height / 3 } : { x: 0, y: 0 };
    return flow.screenToFlowPosition(pointer.current ?? middle);
  }, [flow]);

  const onAdd = useCallback(() => {
    const state = editor.getState();
    if (state.isReadOnly) return;
    const selected = state.nodes.filter((node) => node.selected);
    const inserted = selected.length === 0 ? placementInSelectedEdge(state) : null;
    if (inserted) return ui.setState({ palette: { placement: inserted, at: null } });
    const before = selected.length === 1 ? selected[0] : soleEndNode(state);
    const placement = before
      ? placementAfter(atDrawnPosition(state, before), state)
      : { position: pointer.current ? point() : lastPosition(state.nodes) };
    ui.setState({ palette: { placement, at: null } });
  }, [editor, ui, point]);

  /** The palette where somebody points at the bare canvas: what is chosen comes there, joined to nothing. */
  const addAt = useCallback(
    ({ x, y }: { x: number; y: number }) => {
      const box = area.current?.getBoundingClientRect();
      if (editor.getState().isReadOnly || !box) return;
      const at = flow.screenToFlowPosition({ x, y });
      ui.setState({
        palette: {
          placement: { position: { x: Math.round(at.x - CARD_WIDTH / 2), y: Math.round(at.y - PORT_HEIGHT) } },
          at: { x: x - box.left, y: y - box.top },
        },
      });
    },
    [editor, ui, flow],
  );

  useSeenSize(area);
  useFirstView(firstView === "beginning");
  useReveal();
  useNodeInAddress();
  useRevealWaiting();
  useCanvasKeys({ area, onAdd, onPoint: point });

  const connecting = useConnecting(area);
  const motion = useViewMotion(area);
  const onRest = useKeepFit();
  const openMenu = (event: { preventDefault(): void; clientX: number; clientY: number }, nodeIds: string[]) => {
    event.preventDefault();
    pointer.current = { x: event.clientX, y: event.clientY };
    ui.setState({ menu: { nodeIds, x: event.clientX, y: event.clientY } });
  };
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(NODE_DRAG_TYPE);
    if (!type || isReadOnly) return;
    event.preventDefault();
    loops.drop(type as NodeType, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
    focusCanvas();
  };

  return (
    <section
      ref={area}
      aria-label="Workflow canvas"
      tabIndex={-1}
      className="relative h-full min-h-0 w-full min-w-0 overflow-hidden bg-paper focus:outline-none"
      {...motion.area}
      onPointerMove={(event) => {
        pointer.current = { x: event.clientX, y: event.clientY };
      }}
      onPointerLeave={() => {
        pointer.current = null;
      }}
      onDoubleClick={({ target, clientX: x, clientY: y }) => {
        if (target instanceof Element && target.classList.contains("react-flow__pane")) addAt({ x, y });
      }}
      onDragOver={loops.onDragOver}
      onDragLeave={loops.onDragLeave}
      onDrop={onDrop}
    >
      <ReactFlow
        id={flowId}
        {...motion.flow}
        onMoveEnd={(event, view) => {
          motion.flow.onMoveEnd();
          onRest(event, view);
        }}
        nodes={loops.nodes}
        edges={loops.edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={loops.onNodesChange}
        onNodeDragStart={(_, __, dragged) => loops.onDragStart(dragged)}
        onNodeDrag={(_, __, dragged) => loops.onDrag(dragged)}
        onNodeDragStop={(_, __, dragged) => loops.onDragStop(dragged)}
        onSelectionDragStart={(_, dragged) => loops.onDragStart(dragged)}
        onSelectionDrag={(_, dragged) => loops.onDrag(dragged)}
        onSelectionDragStop={(_, dragged) => loops.onDragStop(dragged)}
        onEdgesChange={onEdgesChange}
        onConnect={(connection) => void editor.getState().connect(connection)}
        onConnectStart={connecting.onConnectStart}
        onConnectEnd={connecting.onConnectEnd}
        isValidConnection={connecting.isValidConnection}
        onNodeClick={({ metaKey, ctrlKey, shiftKey }, node) => {
          // React Flow leaves several selected when one of them is pressed; it is the one that is meant, as in other editors.
          const { nodes, selectOnly } = editor.getState();
          if (!metaKey && !ctrlKey && !shiftKey && nodes.filter(({ selected }) => selected).length > 1) selectOnly(node.id);
          onNodeOpen?.(node.id);
        }}
        onNodeDoubleClick={(_, { id, type }) => {
          const { workflow_id } = editor.getState().data[id] ?? {};
          if (type === "workflowNode" && typeof workflow_id === "string" && workflow_id !== "") router.push(`/workflows/${workflow_id}`);
        }}
        onNodeMouseEnter={(_, node) => motion.whenStill(() => ui.getState().hoverNode(node.id))}
        onNodeMouseLeave={() => motion.whenStill(() => ui.getState().hoverNode(null))}
        onNodeContextMenu={(event, node) => {
          event.preventDefault();
          const { nodes, selectOnly } = editor.getState();
          const selected = nodes.filter((candidate) => candidate.selected).map(({ id }) => id);
          if (!selected.includes(node.id)) selectOnly(node.id);
          openMenu(event, selected.includes(node.id) ? selected : [node.id]);
        }}
        onSelectionContextMenu={(event, chosen) =>
          openMenu(
            event,
            chosen.map(({ id }) => id),
          )
        }
        onPaneContextMenu={(event) => openMenu(event, [])}
        onPaneClick={() => area.current?.focus({ preventScroll: true })}
        onEdgeMouseEnter={({ buttons }, edge) => {
          // What is dragged or drawn across a connection is on its way elsewhere.
          if (buttons === 0 && ui.getState().refusals === null) ui.setState({ hoveredEdge: edge.id });
        }}
        onEdgeMouseLeave={(event) => {
          // On the way to the buttons in the edge's middle it stays hovered.
          if (!(event.relatedTarget instanceof Element && event.relatedTarget.closest(".react-flow__edgelabel-renderer")))
            ui.setState({ hoveredEdge: null });
        }}
        connectionLineType={ConnectionLineType.SmoothStep}
        connectionRadius={30}
        nodesDraggable={!isReadOnly}
        nodesConnectable={!isReadOnly}
        edgesReconnectable={false}
        deleteKeyCode={null}
        panOnScroll
        panOnDrag={tool === "hand" ? true : [1]}
        selectionOnDrag={tool === "pointer"}
        snapToGrid={isSnapping}
        snapGrid={SNAP_GRID}
        zoomOnDoubleClick={false}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={["Meta", "Control"]}
        minZoom={ZOOM.min}
        maxZoom={ZOOM.max}
        fitView
        fitViewOptions={Array.isArray(firstView) ? { ...FIT, nodes: firstView.map((id) => ({ id })) } : FIT}
        elevateEdgesOnSelect
        elevateNodesOnSelect={false}
        nodeDragThreshold={2}
        attributionPosition="top-left"
      >
        <CanvasDots />
        <CanvasMinimap />
      </ReactFlow>
      <ControlBar onAdd={onAdd}>
        <CanvasTools />
        {controls}
      </ControlBar>
      <MoreNodes />
      <CanvasSearch onClose={focusCanvas} />
      {isHelpOpen && <ShortcutsDialog />}
      <Palette onClose={focusCanvas} />
      <ConnectPicker onClose={focusCanvas} />
      <NodeActions onAdd={addAt} onPoint={point} onClose={focusCanvas} />
      <ConnectionRefusalTooltip />
      <LiveRegion />
      {children}
    </section>
  );
}

/** What can be done to nodes: the toolbar at the one that somebody comes to, and the menu. Apart, so that it draws nothing else again. */
function NodeActions(menu: {
  onAdd: (at: { x: number; y: number }) => void;
  onPoint: () => { x: number; y: number };
  onClose: () => void;
}) {
  const isHovering = useCanvasUi((state) => state.hoveredNode !== null);
  const isSelecting = useEditor((state) => state.nodes.some((node) => node.selected));
  const isMenuOpen = useCanvasUi((state) => state.menu !== null);
  return (
    <>
      {(isHovering || isSelecting) && <HoverToolbar />}
      {isMenuOpen && <NodeMenu {...menu} />}
    </>
  );
}

/** Right of the last node, for a node that is asked for without a place. */
function lastPosition(nodes: readonly { position: { x: number; y: number } }[]): { x: number; y: number } {
  const last = nodes.reduce<{ x: number; y: number } | null>((far, { position }) => (!far || position.x > far.x ? position : far), null);
  return last ? { x: last.x + NEXT_NODE_DISTANCE, y: last.y } : { x: 0, y: 0 };
}

/** Distance of the dots in canvas units at 100 %; from far it doubles, so that they stay dots. */
const GAP = 20;
const MIN_GAP_ON_SCREEN = 12;
const DOT_ON_SCREEN = 1.5;

/** Which part of the canvas has dots: it changes when the view has moved by half a screen, not with every step. */
function dotted({ transform: [x, y, zoom], width, height }: ReactFlowState): string {
  const gap = GAP * 2 ** Math.max(0, Math.ceil(Math.log2(MIN_GAP_ON_SCREEN / (GAP * zoom))));
  const part = (offset: number, size: number) => {
    const step = Math.max(1, Math.ceil(size / zoom / 2 / gap)) * gap;
    return [(Math.floor(-offset / zoom / step) - 2) * step, 7 * step];
  };
  return [...part(x, width), ...part(y, height), gap, zoom].join(" ");
}

/** The dotted paper. It is a part of what moves, so moving the view does not draw it anew. */
export function CanvasDots() {
  const [left, width, top, height, gap = GAP, zoom = 1] = useStore(dotted).split(" ").map(Number);
  const radius = DOT_ON_SCREEN / 2 / zoom;
  return (
    <ViewportPortal>
      <div
        aria-hidden
        className="canvas-dots pointer-events-none absolute"
        style={{
          ...{ left, top, width, height, zIndex: -1000 },
          backgroundImage: `radial-gradient(circle at ${gap / 2}px ${gap / 2}px, var(--line-strong) ${radius}px, transparent ${radius * 1.3}px)`,
          backgroundSize: `${gap}px ${gap}px`,
        }}
      />
    </ViewportPortal>
  );
}

/** Why the node under the pointer takes no connection. */
export function ConnectionRefusalTooltip() {
  const refusal = useCanvasUi((state) => state.refusal);
  if (!refusal) return null;
  return (
    <div
      role="status"
      className="pointer-events-none absolute top-3 left-1/2 z-20 max-w-100 -translate-x-1/2 rounded-md bg-ink px-3 py-1.5 text-12 text-paper shadow-md"
    >
      {refusal}
    </div>
  );
}

/** What happens on the canvas, in words, for those who do not see it. */
export function LiveRegion() {
  const { text, count } = useEditor((state) => state.announcement);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Written anew even when the words are the same as before.
    if (box.current) box.current.textContent = count % 2 ? `${text}\u00a0` : text;
  }, [text, count]);
  return <div ref={box} aria-live="polite" aria-atomic className="sr-only" data-announcer />;
}

"use client";

import { type Connection, type Edge, type FinalConnectionState, type OnConnectStartParams, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback } from "react";
import { toast } from "#components/ui/toaster.tsx";
import { firstAllowedConnection } from "#components/workflow-editor/canvas/document/edits.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { dictionary } from "#server/shared/json-text.ts";
import { checkConnection } from "#server/workflow/graph.ts";
import { PORT_HEIGHT } from "#server/workflow/layout/loop-frames.ts";

/** How far beside a straight line a connection may be dropped and still become one, in canvas units. */
const NEARLY_STRAIGHT = 20;

/**
 * Drawing a connection by pointer: what refuses it dims and says why, by the same rules as the server; dropped anywhere on a
 * card it ends there, and on the empty canvas it opens the palette.
 */
export function useConnecting(area: RefObject<HTMLElement | null>) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();

  const onConnectStart = (_: unknown, { nodeId, handleId, handleType }: OnConnectStartParams) => {
    if (!nodeId) return;
    const state = editor.getState();
    const graph = state.graph();
    const refusals = dictionary<string>();
    for (const node of state.nodes) {
      if (node.id === nodeId) continue;
      const refusal =
        handleType === "source"
          ? checkConnection(graph, { source: nodeId, sourceHandle: handleId, target: node.id })
          : firstAllowedConnection(graph, node.id, nodeId).refusal;
      if (refusal) refusals[node.id] = refusal;
    }
    ui.setState({ refusals, refusal: null });
  };
  const onConnectEnd = (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
    ui.setState({ refusals: null, refusal: null });
    if (state.isValid || !state.fromHandle || !state.fromNode) return;
    const { clientX, clientY } = "changedTouches" in event ? (event.changedTouches[0] ?? { clientX: 0, clientY: 0 }) : event;
    const under = document.elementFromPoint(clientX, clientY);
    const over = under?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
    const isForward = state.fromHandle.type === "source";
    const from = { nodeId: state.fromNode.id, handle: state.fromHandle.id ?? null };
    if (over) {
      if (over === from.nodeId) return;
      const ends = isForward
        ? { source: from.nodeId, sourceHandle: from.handle, target: over }
        : firstAllowedConnection(editor.getState().graph(), over, from.nodeId).ends;
      const refusal = editor.getState().connect(ends);
      if (refusal) toast.error(refusal);
      return;
    }
    if (!under?.closest(".react-flow__pane") || !isForward) return;
    const box = area.current?.getBoundingClientRect();
    const { x, y } = flow.screenToFlowPosition({ x: clientX, y: clientY });
    // The new card's way in comes where the line was dropped, and the line is straight where it nearly is.
    const row = state.from && Math.abs(y - state.from.y) < NEARLY_STRAIGHT ? state.from.y : y;
    ui.setState({
      palette: {
        placement: { position: { x: Math.round(x), y: Math.round(row - PORT_HEIGHT) }, after: from },
        at: { x: clientX - (box?.left ?? 0), y: clientY - (box?.top ?? 0) },
      },
    });
  };
  const isValidConnection = useCallback(
    (connection: Connection | Edge) => checkConnection(editor.getState().graph(), connection) === null,
    [editor],
  );
  return { onConnectStart, onConnectEnd, isValidConnection };
}

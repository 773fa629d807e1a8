"use client";

import { Handle, Position, type ReactFlowState, useStore, useUpdateNodeInternals } from "@xyflow/react";
import { useCallback, useEffect } from "react";
import type { NodeData } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { definitionOf, handlesOf, handleTitle } from "#server/workflow/graph.ts";
import { PORT_HEIGHT } from "#server/workflow/layout/loop-frames.ts";

/** Distance of one way out of a node from the next, and of the first from the card's top (pixels). */
const HANDLE_PITCH = 28;
const FIRST_HANDLE = 58;

/** A node as its ports are drawn. */
interface Ported {
  type: string;
  data: NodeData | undefined;
}

const waysOut = (node: Ported): readonly (string | null)[] => handlesOf(node) ?? [null];

/** How high a card must be for all its ways out, in pixels; undefined where one is enough. */
export function minCardHeight(node: Ported): number | undefined {
  const ways = waysOut(node).length;
  return ways > 1 ? FIRST_HANDLE + (ways - 1) * HANDLE_PITCH + HANDLE_PITCH / 2 : undefined;
}

/** The ports of a card: the way in at its left, the ways out at its right, with their names when there are several. */
export function NodePorts({ type, data, isConnectable, isNamed }: Ported & { isConnectable: boolean; isNamed: boolean }) {
  const ways = waysOut({ type, data });
  return (
    <>
      {definitionOf(type)?.hasInput && (
        <Handle type="target" position={Position.Left} isConnectable={isConnectable} style={{ top: PORT_HEIGHT }} />
      )}
      {ways.map((way, index) => (
        <Handle
          key={way ?? ""}
          type="source"
          {...(way !== null && { id: way })}
          position={Position.Right}
          isConnectable={isConnectable}
          style={{ top: ways.length > 1 ? FIRST_HANDLE + index * HANDLE_PITCH : PORT_HEIGHT }}
        >
          {way !== null && isNamed && ways.length > 1 && (
            <span className="canvas-fine pointer-events-none absolute top-1/2 right-4 -translate-y-1/2 max-w-24 truncate font-semibold text-12 text-ink-faint">
              {handleTitle({ type, data }, way)}
            </span>
          )}
        </Handle>
      ))}
    </>
  );
}

/**
 * The same for a card whose ports cannot be seen: only until React Flow has measured where they are. By the thousand, ports
 * are dearer to the browser than all else on such cards.
 */
export function UnseenPorts({ id, type, data, isConnectable }: Ported & { id: string; isConnectable: boolean }) {
  const update = useUpdateNodeInternals();
  const bounds = useStore(
    useCallback(
      (state: ReactFlowState) => {
        const known = state.nodeLookup.get(id)?.internals.handleBounds;
        return known && (known.source || known.target ? "known" : "lost");
      },
      [id],
    ),
  );
  // A card that was measured anew while it had no ports gets them back, and is measured with them.
  useEffect(() => {
    if (bounds === "lost") update(id);
  }, [bounds, update, id]);
  return bounds === "known" ? null : <NodePorts type={type} data={data} isConnectable={isConnectable} isNamed={false} />;
}

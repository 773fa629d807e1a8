"use client";

import { Handle, Position, type ReactFlowState, useStore, useUpdateNodeInternals } from "@xyflow/react";
import { useCallback, useEffect } from "react";
import { definitionOf } from "#server/workflow/graph.ts";
import { PORT_HEIGHT } from "#server/workflow/layout/loop-frames.ts";

/** Distance of one way out of a node from the next, and of the first from the card's top (pixels). */
const HANDLE_PITCH = 28;
const FIRST_HANDLE = 58;

const waysOut = (type: string): readonly (string | null)[] => definitionOf(type)?.handles ?? [null];

/** How high a card must be for all its ways out, in pixels; undefined where one is enough. */
export function minCardHeight(type: string): number | undefined {
  const ways = waysOut(type).length;
  return ways > 1 ? FIRST_HANDLE + (ways - 1) * HANDLE_PITCH + HANDLE_PITCH / 2 : undefined;
}

/** The ports of a card: the way in at its left, the ways out at its right, with their names when there are several. */
export function NodePorts({ type, isConnectable, isNamed }: { type: string; isConnectable: boolean; isNamed: boolean }) {
  const ways = waysOut(type);
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
          {way !== null && isNamed && (
            <span className="pointer-events-none absolute top-1/2 right-4 -translate-y-1/2 font-medium text-10 text-ink-faint">{way}</span>
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
export function UnseenPorts({ id, type, isConnectable }: { id: string; type: string; isConnectable: boolean }) {
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
  return bounds === "known" ? null : <NodePorts type={type} isConnectable={isConnectable} isNamed={false} />;
}

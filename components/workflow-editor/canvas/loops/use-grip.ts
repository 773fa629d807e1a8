"use client";

import { useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, useRef } from "react";
import type { Grip } from "#components/workflow-editor/canvas/geometry/loop-drop.ts";

/** Tells what the pointer took hold of when it was last pressed, and where on the canvas it is now. */
export function useGrip(): () => Grip {
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

"use client";

import { useReactFlow, useStoreApi } from "@xyflow/react";
import { Locate } from "lucide-react";
import { useEffect, useState } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { shiftInto } from "#components/workflow-editor/canvas/use-view.ts";
import { visibleIdOf } from "#server/workflow/layout/loop-frames.ts";
import { boxOnScreen } from "#server/workflow/layout/node-size.ts";

const KEY = "follow-run";
const MARGIN = 64;
const MOVE_MS = 350;

/** Keeps the node at work in view while a run goes on, until one moves the view oneself. Part of the canvas's bar. */
export function FollowRun() {
  const flow = useReactFlow();
  const view = useStoreApi();
  const editor = useEditorStore();
  const [isOn, setIsOn] = useState(false);
  const current = useRun(({ snapshot }) => {
    if (!snapshot) return null;
    const isAt = (id: string) => snapshot.waiting[id] !== undefined || ["running", "waiting"].includes(snapshot.nodes[id]?.status ?? "");
    // A loop is at work as long as its body is; what matters is the node in there.
    return (
      snapshot.order.findLast((id) => isAt(id) && snapshot.nodes[id]?.iterations === undefined) ?? snapshot.order.findLast(isAt) ?? null
    );
  });

  useEffect(() => setIsOn(localStorage.getItem(KEY) === "1"), []);
  const turn = (next: boolean) => {
    setIsOn(next);
    if (next) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  };

  useEffect(() => {
    if (!isOn || current === null) return;
    const node = flow.getInternalNode(visibleIdOf(editor.getState(), current));
    const { width, height, transform } = view.getState();
    if (!node || width === 0) return;
    const [x, y, zoom] = transform;
    const { left, top, right, bottom } = boxOnScreen(node, node.internals.positionAbsolute, transform);
    const by = { x: shiftInto(left, right, MARGIN, width - MARGIN), y: shiftInto(top, bottom, MARGIN, height - MARGIN) };
    // Once it must move, it moves to the middle, so that the next nodes are in view too.
    if (by.x !== 0 || by.y !== 0)
      void flow.setCenter((left + right) / 2 / zoom - x / zoom, (top + bottom) / 2 / zoom - y / zoom, {
        zoom,
        duration: motionMs(MOVE_MS),
      });
  }, [isOn, current, flow, view, editor]);

  useEffect(() => {
    const area = view.getState().domNode;
    if (!isOn || !area) return;
    const onMove = (event: PointerEvent) => {
      if (event.buttons > 0 && event.target instanceof Element && event.target.closest(".react-flow__pane")) stop();
    };
    const stop = () => {
      setIsOn(false);
      localStorage.removeItem(KEY);
    };
    area.addEventListener("wheel", stop, { passive: true });
    area.addEventListener("pointermove", onMove);
    return () => {
      area.removeEventListener("wheel", stop);
      area.removeEventListener("pointermove", onMove);
    };
  }, [isOn, view]);

  return <IconButton label="Follow run" icon={<Locate />} isPressed={isOn} onClick={() => turn(!isOn)} />;
}

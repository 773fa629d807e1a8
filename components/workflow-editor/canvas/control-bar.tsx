"use client";

import { useReactFlow, useStore } from "@xyflow/react";
import {
  Hand,
  Keyboard,
  ListTree,
  Map as MapIcon,
  Maximize,
  MousePointer2,
  Plus,
  Redo2,
  Search,
  Undo2,
  Workflow,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { useHasMinimap } from "#components/workflow-editor/canvas/canvas-minimap.tsx";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { FIT } from "#components/workflow-editor/canvas/use-view.ts";

/** The floating bar at the lower left: what one does to the canvas as a whole. */
export function ControlBar({ onAdd, children }: { onAdd?: () => void; children?: ReactNode }) {
  const flow = useReactFlow();
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const hasMinimap = useHasMinimap();
  const isMinimapShown = useCanvasUi((state) => state.isMinimapShown);
  const tool = useCanvasUi((state) => state.tool);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const undoName = useEditor((state) => state.history.past.at(-1)?.name);
  const redoName = useEditor((state) => state.history.future[0]?.name);
  const bar = useRef<HTMLDivElement>(null);
  useToastsAbove(bar);
  const line = <span aria-hidden className="mx-0.5 h-4 w-px bg-line" />;
  return (
    <div
      ref={bar}
      role="toolbar"
      aria-label="Canvas"
      className="absolute bottom-3 left-3 z-10 flex min-h-9 max-w-[calc(100%-1.5rem)] flex-wrap items-center gap-0.5 rounded-lg border border-line-strong bg-raised px-1 shadow-md"
    >
      {onAdd && !isReadOnly && (
        <>
          <Button size="sm" variant="ghost" icon={<Plus />} onClick={onAdd} aria-keyshortcuts="N">
            Add node
          </Button>
          {line}
          <IconButton
            label="Undo"
            icon={<Undo2 />}
            shortcut={[MOD, "Z"]}
            disabled={!undoName}
            title={undoName && `Undo: ${undoName}`}
            onClick={() => editor.getState().undo()}
          />
          <IconButton
            label="Redo"
            icon={<Redo2 />}
            shortcut={[MOD, "⇧", "Z"]}
            disabled={!redoName}
            onClick={() => editor.getState().redo()}
          />
          <span className="max-sm:hidden">
            <IconButton label="Tidy up" icon={<Workflow />} shortcut={["⇧", "T"]} onClick={() => void editor.getState().tidy()} />
          </span>
          {line}
        </>
      )}
      <span className="flex items-center max-sm:hidden">
        <IconButton label="Zoom out" icon={<ZoomOut />} shortcut={["−"]} onClick={() => void flow.zoomOut({ duration: motionMs(120) })} />
        <button
          type="button"
          aria-label={`Zoom ${zoom} %, set to 100 %`}
          className="h-7 w-11 rounded-md text-center text-12 text-ink-soft tabular hover:bg-hover hover:text-ink"
          onClick={() => void flow.zoomTo(1, { duration: motionMs(120) })}
        >
          {zoom} %
        </button>
        <IconButton label="Zoom in" icon={<ZoomIn />} shortcut={["+"]} onClick={() => void flow.zoomIn({ duration: motionMs(120) })} />
      </span>
      <span className="flex items-center max-md:hidden pointer-coarse:hidden">
        <IconButton
          label={tool === "hand" ? "Select by dragging" : "Move the view by dragging"}
          icon={tool === "hand" ? <Hand /> : <MousePointer2 />}
          shortcut={[tool === "hand" ? "V" : "H"]}
          onClick={() => ui.setState({ tool: tool === "hand" ? "pointer" : "hand" })}
        />
      </span>
      <IconButton
        label="Fit to screen"
        icon={<Maximize />}
        shortcut={["⇧", "1"]}
        onClick={() => void flow.fitView({ ...FIT, duration: motionMs(160) })}
      />
      {hasMinimap && (
        <IconButton
          label="Minimap"
          icon={<MapIcon />}
          isPressed={isMinimapShown}
          onClick={() => ui.setState({ isMinimapShown: !isMinimapShown })}
        />
      )}
      {children}
    </div>
  );
}

/** On the floating bar: finding one's way in the workflow. */
export function CanvasTools() {
  const ui = useCanvasUiStore();
  return (
    <>
      <IconButton label="Search in canvas" icon={<Search />} shortcut={[MOD, "F"]} onClick={() => ui.getState().openSearch()} />
      <span className="max-md:hidden">
        <IconButton label="Keyboard shortcuts" icon={<Keyboard />} shortcut={["?"]} onClick={() => ui.setState({ isHelpOpen: true })} />
      </span>
    </>
  );
}

/** Opens the outline; on a phone as a sheet. */
export function OutlineButton() {
  const ui = useCanvasUiStore();
  return <IconButton label="Outline" icon={<ListTree />} shortcut={["O"]} onClick={() => ui.setState({ isOutlineAsked: true })} />;
}

const GAP = 8;

/** Keeps toasts on a phone above this element, which stands at the foot of its page: they would cover it. */
export function useToastsAbove(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const bar = element.current;
    const area = bar?.offsetParent;
    if (!bar || !area) return;
    const { style } = document.documentElement;
    const place = () => {
      const { top, height } = bar.getBoundingClientRect();
      // In a tab that is not shown it takes nothing.
      if (height > 0) style.setProperty("--toasts-above", `${Math.max(0, innerHeight - top) + GAP}px`);
      else style.removeProperty("--toasts-above");
    };
    const observer = new ResizeObserver(place);
    observer.observe(bar);
    observer.observe(area);
    return () => {
      observer.disconnect();
      style.removeProperty("--toasts-above");
    };
  }, [element]);
}

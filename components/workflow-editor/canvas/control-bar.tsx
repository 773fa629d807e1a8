"use client";

import { useReactFlow, useStore } from "@xyflow/react";
import {
  ChevronDown,
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
import { type ReactNode, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { useToastsAbove } from "#components/ui/toaster.tsx";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { useHasMinimap } from "#components/workflow-editor/canvas/canvas-minimap.tsx";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { FIT } from "#components/workflow-editor/canvas/use-view.ts";

/** A canvas lower than this, in pixels, as a phone has it above a review that is read, shows its nodes alone. */
const LOW = 120;

/** The floating bar at the lower left: what one does to the canvas as a whole. At most seven icons; the rest has words, in a menu. */
export function ControlBar({ onAdd, children }: { onAdd?: () => void; children?: ReactNode }) {
  const flow = useReactFlow();
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const isLow = useStore(({ height }) => height > 0 && height < LOW);
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
      className={cn(
        "absolute bottom-3 left-3 z-10 flex min-h-9 max-w-[calc(100%-1.5rem)] flex-wrap items-center gap-0.5 rounded-lg border border-line-strong bg-raised px-1 shadow-md",
        isLow && "hidden",
      )}
    >
      {onAdd && !isReadOnly && (
        <>
          <Button size="sm" variant="ghost" icon={<Plus />} onClick={onAdd} aria-keyshortcuts="N">
            <span className="max-sm:sr-only">Add node</span>
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
          {line}
        </>
      )}
      <span className="flex items-center max-sm:hidden">
        <button
          type="button"
          aria-label={`Zoom ${zoom} %, set to 100 %`}
          className="h-7 w-11 rounded-md text-center text-12 text-ink-soft tabular hover:bg-hover hover:text-ink"
          onClick={() => void flow.zoomTo(1, { duration: motionMs(120) })}
        >
          {zoom} %
        </button>
      </span>
      <IconButton
        label="Fit to screen"
        icon={<Maximize />}
        shortcut={["⇧", "1"]}
        onClick={() => void flow.fitView({ ...FIT, duration: motionMs(160) })}
      />
      {children}
      <span className="flex items-center max-sm:hidden">
        {line}
        <Menu
          side="top"
          align="start"
          trigger={
            <Button size="sm" variant="ghost">
              View
              <ChevronDown aria-hidden className="size-3.5" />
            </Button>
          }
        >
          <MenuItem icon={<ZoomIn />} shortcut={["+"]} onSelect={() => void flow.zoomIn({ duration: motionMs(120) })}>
            Zoom in
          </MenuItem>
          <MenuItem icon={<ZoomOut />} shortcut={["−"]} onSelect={() => void flow.zoomOut({ duration: motionMs(120) })}>
            Zoom out
          </MenuItem>
          <MenuItem
            icon={tool === "hand" ? <MousePointer2 /> : <Hand />}
            shortcut={[tool === "hand" ? "V" : "H"]}
            onSelect={() => ui.setState({ tool: tool === "hand" ? "pointer" : "hand" })}
          >
            {tool === "hand" ? "Select by dragging" : "Move the view by dragging"}
          </MenuItem>
          {hasMinimap && (
            <MenuItem icon={<MapIcon />} onSelect={() => ui.setState({ isMinimapShown: !isMinimapShown })}>
              {isMinimapShown ? "Hide minimap" : "Show minimap"}
            </MenuItem>
          )}
          {!isReadOnly && (
            <MenuItem icon={<Workflow />} shortcut={["⇧", "T"]} onSelect={() => void editor.getState().tidy()}>
              Tidy up
            </MenuItem>
          )}
          <MenuSeparator />
          <MenuItem icon={<Keyboard />} shortcut={["?"]} onSelect={() => ui.setState({ isHelpOpen: true })}>
            Keyboard shortcuts
          </MenuItem>
        </Menu>
      </span>
    </div>
  );
}

/** On the floating bar: finding one's way in the workflow. */
export function CanvasTools() {
  const ui = useCanvasUiStore();
  return <IconButton label="Search in canvas" icon={<Search />} shortcut={[MOD, "F"]} onClick={() => ui.getState().openSearch()} />;
}

/** Opens the outline; on a phone as a sheet. */
export function OutlineButton() {
  const ui = useCanvasUiStore();
  return <IconButton label="Outline" icon={<ListTree />} shortcut={["O"]} onClick={() => ui.setState({ isOutlineAsked: true })} />;
}

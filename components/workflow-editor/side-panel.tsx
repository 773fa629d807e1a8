"use client";

import { PanelRightClose, PanelRightOpen, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Kbd } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import { placementAfter, soleEndNode } from "#components/workflow-editor/canvas/document/edits.ts";
import { NODE_DRAG_TYPE, NOTE_DRAG_TYPE, type NodeChoice, nodeChoices } from "#components/workflow-editor/canvas/document/node-choices.ts";
import {
  useCanvasUi,
  useCanvasUiStore,
  useEditor,
  useEditorShallow,
  useEditorStore,
} from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { definitionOf } from "#server/workflow/graph.ts";
import { atDrawnPosition } from "#server/workflow/layout/loop-frames.ts";
import { NEXT_NODE_DISTANCE } from "#server/workflow/layout/node-size.ts";

const DEFAULT = 320;
// Loaded when they are first looked at; the node's panel, which everybody looks at, when the pointer first comes to a node.
const loadNodePanel = () => import("#components/workflow-editor/node-panel/node-panel.tsx").then((module) => module.NodePanel);
const NodePanel = loadedOnUse(loadNodePanel, PanelLoading);
const OutlinePanel = loadedOnUse(() =>
  import("#components/workflow-editor/outline/outline-panel.tsx").then((module) => module.OutlinePanel),
);

function PanelLoading() {
  return (
    <p role="status" className="flex items-center gap-2 p-4 text-14 text-ink-soft">
      <Spinner /> Opening…
    </p>
  );
}

const KEY = "treadle.side-panel";
const isKeptFolded = (): boolean => {
  try {
    return localStorage.getItem(KEY) === "folded";
  } catch {
    return false;
  }
};

/**
 * The ids of what is selected, once the pointer has let go: a panel that opened while something is dragged or framed would move
 * the canvas under the pointer.
 */
function useSettledSelection(): string {
  const key = useEditorShallow((state) => state.nodes.filter((node) => node.selected).map((node) => node.id)).join(" ");
  const [settled, setSettled] = useState(key);
  const isHeld = useRef(false);
  useEffect(() => {
    const hold = ({ target }: PointerEvent) => {
      isHeld.current = target instanceof Element && target.closest(".react-flow") !== null;
    };
    const letGo = () => {
      isHeld.current = false;
    };
    addEventListener("pointerdown", hold, { capture: true });
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, letGo, { capture: true });
    return () => {
      removeEventListener("pointerdown", hold, { capture: true });
      for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, letGo, { capture: true });
    };
  }, []);
  useEffect(() => {
    const settle = () => setSettled(key);
    if (!isHeld.current) return settle();
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, settle, { once: true });
    return () => {
      for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, settle);
    };
  }, [key]);
  return settled;
}

type PanelTab = "add" | "node" | "outline";

/**
 * Right of the canvas, while something is selected or somebody has asked for it: what can be added, the fields of the node that is
 * selected, the outline. Folded it stays away, until a field is gone to. A sheet on a phone.
 */
export function SidePanel({ isSheetOpen, onSheetClose }: { isSheetOpen: boolean; onSheetClose: () => void }) {
  const [tab, setTab] = useState<PanelTab>("add");
  /** What somebody has opened, which stays when nothing is selected. */
  const [asked, setAsked] = useState<"add" | "outline" | null>(null);
  const [isFolded, setIsFolded] = useState(false);
  const key = useSettledSelection();
  const request = useCanvasUi((state) => state.focusField?.count ?? 0);
  // A hidden tab is kept mounted, but not before it is first looked at.
  const [isNodeAsked, setIsNodeAsked] = useState(false);
  if (tab === "node" && !isNodeAsked) setIsNodeAsked(true);
  const isHovering = useCanvasUi((state) => state.hoveredNode !== null);
  useEffect(() => {
    if (isHovering) loadNodePanel().catch(() => {}); // whoever then looks at it asks again
  }, [isHovering]);

  const isOutlineAsked = useCanvasUi((state) => state.isOutlineAsked);
  const [isOutlineSheet, setIsOutlineSheet] = useState(false);

  const look = (next: PanelTab) => {
    setTab(next);
    setAsked(next === "node" ? null : next);
  };
  // The outline shares the canvas's selection, so it stays.
  useEffect(() => {
    if (key === "") return setIsFolded(isKeptFolded());
    setTab((current) => (current === "outline" ? current : "node"));
    setAsked((current) => (current === "outline" ? current : null));
  }, [key]);
  useEffect(() => {
    if (request === 0) return;
    setTab("node");
    setAsked(null);
    setIsFolded(false);
  }, [request]);
  useEffect(() => {
    if (!isOutlineAsked) return;
    setTab("outline");
    setAsked("outline");
    setIsFolded(false);
    setIsOutlineSheet(true);
  }, [isOutlineAsked]);

  const isOpen = !isFolded && (key !== "" || asked !== null);
  const fold = (next: boolean) => {
    setIsFolded(next);
    if (next) setAsked(null);
    else if (key === "") look("add");
    try {
      localStorage.setItem(KEY, next ? "folded" : "open");
    } catch {
      // Without storage it is remembered until the page closes.
    }
  };
  return (
    <>
      {isOpen ? (
        <ResizableDivider
          name="side-panel"
          label="Resize the side panel"
          orientation="vertical"
          area="after"
          defaultSize={DEFAULT}
          min={290}
          max={0.4}
          className="max-md:hidden"
        />
      ) : (
        <div className="relative w-0 max-md:hidden">
          <IconButton
            label="Open the side panel"
            aria-expanded={false}
            icon={<PanelRightOpen />}
            size="lg"
            side="left"
            className="absolute top-3 right-3 z-10 border border-line-strong bg-raised shadow-md"
            onClick={() => fold(false)}
          />
        </div>
      )}
      <aside
        aria-label="Nodes and settings"
        className={cn(
          "flex min-h-0 shrink-0 flex-col bg-surface md:w-[min(var(--layout-side-panel,320px),40vw)]",
          "max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-30 max-md:h-[70dvh] max-md:animate-rise max-md:rounded-t-lg max-md:border-t max-md:shadow-lg",
          !isSheetOpen && !isOutlineSheet && "max-md:hidden",
          !isOpen && "md:hidden",
        )}
      >
        <Tabs
          label="Side panel"
          value={tab}
          onValueChange={look}
          className="flex-1"
          // What is hidden in a panel but there to be heard would make the page longer if the panel did not hold it.
          panelClassName="relative overflow-y-auto"
          actions={
            <>
              <IconButton
                label="Fold the side panel"
                aria-expanded
                icon={<PanelRightClose />}
                className="max-md:hidden"
                onClick={() => fold(true)}
              />
              <IconButton
                label="Close the panel"
                icon={<X />}
                className="md:hidden"
                onClick={() => {
                  setIsOutlineSheet(false);
                  onSheetClose();
                }}
              />
            </>
          }
          tabs={[
            { value: "add", label: "Add", content: <AddPanel /> },
            { value: "node", label: "Node", content: isNodeAsked && <NodePanel /> },
            { value: "outline", label: "Outline", content: tab === "outline" && <OutlinePanel /> },
          ]}
        />
      </aside>
    </>
  );
}

const groups = [...Map.groupBy(nodeChoices, (choice) => choice.group)];

/** Every node type, to be dragged onto the canvas or added by a click. */
export function AddPanel() {
  const isReadOnly = useEditor((state) => state.isReadOnly);
  if (isReadOnly)
    return <p className="p-3 text-14 text-ink-soft">You may look, not change. Ask an admin of the project for the editor role.</p>;
  return (
    <div className="flex flex-col gap-4 p-3">
      {groups.map(([group, choices]) => (
        <section key={group} aria-label={group} className="flex flex-col gap-1">
          <h3 className="px-1 text-12 text-ink-faint">{group}</h3>
          {choices.map((choice) => (
            <AddRow key={choice.type} choice={choice} />
          ))}
        </section>
      ))}
      <p className="px-1 text-12 text-ink-faint">
        Drag one onto the canvas, or press <Kbd>N</Kbd> there.
      </p>
    </div>
  );
}

function AddRow({ choice }: { choice: NodeChoice }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const add = () => {
    const state = editor.getState();
    const selected = state.nodes.filter((node) => node.selected);
    const before = selected.length === 1 ? selected[0] : soleEndNode(state);
    const right = Math.max(0, ...state.nodes.map((node) => node.position.x + NEXT_NODE_DISTANCE));
    const id = state.add(choice.type, before ? placementAfter(atDrawnPosition(state, before), state) : { position: { x: right, y: 0 } });
    ui.getState().goTo(id, null);
    if (choice.type === "noteNode") ui.setState({ writing: id });
  };
  return (
    <button
      type="button"
      draggable
      className="flex cursor-grab items-center gap-2.5 rounded-md border border-line bg-raised p-2 text-left hover:border-line-control active:cursor-grabbing"
      onDragStart={(event) => {
        event.dataTransfer.setData(NODE_DRAG_TYPE, choice.type);
        if (definitionOf(choice.type)?.isInert) event.dataTransfer.setData(NOTE_DRAG_TYPE, choice.type);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={add}
    >
      <NodeIcon type={choice.type} className="size-7" />
      <span className="flex min-w-0 flex-col">
        <span className="font-semibold text-14">{choice.title}</span>
        <span className="text-12 text-ink-faint">{choice.summary}</span>
      </span>
    </button>
  );
}

"use client";

import { X } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import { AddPanel } from "#components/workflow-editor/add-panel.tsx";
import { useCanvasUi, useEditorShallow } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

const DEFAULT = 320;
/** How long after the editor is drawn the panel of nodes is made ready, in milliseconds. */
const PRELOAD_MS = 600;

// Loaded when they are first looked at; the node's panel, which everybody looks at, as soon as the canvas stands.
const NodePanel = dynamic(() => import("#components/workflow-editor/node-panel/node-panel.tsx").then((module) => module.NodePanel), {
  loading: () => <PanelLoading />,
});
const OutlinePanel = dynamic(() => import("#components/workflow-editor/outline/outline-panel.tsx").then((module) => module.OutlinePanel));

const PanelLoading = () => (
  <p role="status" className="flex items-center gap-2 p-4 text-13 text-ink-soft">
    <Spinner /> Opening…
  </p>
);

/** Right of the canvas: what can be added, and the fields of the node that is selected. A sheet on a phone. */
export function SidePanel({ isSheetOpen, onSheetClose }: { isSheetOpen: boolean; onSheetClose: () => void }) {
  const [tab, setTab] = useState<"add" | "node" | "outline">("add");
  const selected = useEditorShallow((state) => state.nodes.filter((node) => node.selected).map((node) => node.id));
  const request = useCanvasUi((state) => state.focusField?.count ?? 0);
  const key = selected.join(" ");
  // A hidden tab is kept mounted, but not before the canvas stands.
  const [isLate, setIsLate] = useState(false);
  const isNodeReady = isLate || tab === "node";
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);

  const isOutlineAsked = useCanvasUi((state) => state.isOutlineAsked);
  const [isOutlineSheet, setIsOutlineSheet] = useState(false);

  // The outline shares the canvas's selection, so it stays.
  useEffect(() => {
    if (key !== "") setTab((current) => (current === "outline" ? current : "node"));
  }, [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a request for a node's panel opens it even when the node was selected before
  useEffect(() => {
    if (key !== "" && request > 0) setTab("node");
  }, [request]);
  useEffect(() => {
    if (!isOutlineAsked) return;
    setTab("outline");
    setIsOutlineSheet(true);
  }, [isOutlineAsked]);

  return (
    <>
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
      <aside
        aria-label="Nodes and settings"
        className={cn(
          "flex min-h-0 shrink-0 flex-col bg-surface md:w-[min(var(--layout-side-panel,320px),40vw)]",
          "max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-30 max-md:h-[70dvh] max-md:animate-rise max-md:rounded-t-lg max-md:border-t max-md:shadow-lg",
          !isSheetOpen && !isOutlineSheet && "max-md:hidden",
        )}
      >
        <Tabs
          label="Side panel"
          value={tab}
          onValueChange={setTab}
          className="flex-1"
          panelClassName="overflow-y-auto"
          actions={
            <IconButton
              label="Close the panel"
              icon={<X />}
              className="md:hidden"
              onClick={() => {
                setIsOutlineSheet(false);
                onSheetClose();
              }}
            />
          }
          tabs={[
            { value: "add", label: "Add", content: <AddPanel /> },
            { value: "node", label: "Node", content: isNodeReady && <NodePanel /> },
            { value: "outline", label: "Outline", content: tab === "outline" && <OutlinePanel /> },
          ]}
        />
      </aside>
    </>
  );
}

"use client";

import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { useCanvasUi, useEditorShallow } from "#components/canvas/canvas-context.tsx";
import { AddPanel } from "#components/editor/add-panel.tsx";
import { NodePanel } from "#components/editor/node-panel.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";
import { Tabs } from "#components/ui/tabs.tsx";

const DEFAULT = 320;

/** Right of the canvas: what can be added, and the fields of the node that is selected. A sheet on a phone. */
export function SidePanel({ isSheetOpen, onSheetClose }: { isSheetOpen: boolean; onSheetClose: () => void }) {
  const [tab, setTab] = useState<"add" | "node">("add");
  const selected = useEditorShallow((state) => state.nodes.filter((node) => node.selected).map((node) => node.id));
  const request = useCanvasUi((state) => state.focusField?.count ?? 0);
  const key = selected.join(" ");

  // biome-ignore lint/correctness/useExhaustiveDependencies: a request for a node's panel opens it even when the node was selected before
  useEffect(() => {
    if (key !== "") setTab("node");
  }, [key, request]);

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
          !isSheetOpen && "max-md:hidden",
        )}
      >
        <Tabs
          label="Side panel"
          value={tab}
          onValueChange={setTab}
          className="flex-1"
          panelClassName="overflow-y-auto"
          actions={<IconButton label="Close the panel" icon={<X />} className="md:hidden" onClick={onSheetClose} />}
          tabs={[
            { value: "add", label: "Add", content: <AddPanel /> },
            { value: "node", label: "Node", content: <NodePanel /> },
          ]}
        />
      </aside>
    </>
  );
}

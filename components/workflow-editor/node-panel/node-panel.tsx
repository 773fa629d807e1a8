"use client";

import { Copy, MousePointerClick, PackagePlus, Plus, Spline, Trash2 } from "lucide-react";
import { Tabs as Radix } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { focusWhenMounted } from "#components/ui/focus.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { placementAfter } from "#components/workflow-editor/canvas/document/edits.ts";
import { isNodeType, labelOf, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import {
  useCanvasUi,
  useCanvasUiStore,
  useEditor,
  useEditorShallow,
  useEditorStore,
} from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { LastRunProvider, PanelReadsProvider } from "#components/workflow-editor/fields/panel-reads.tsx";
import { EditableName } from "#components/workflow-editor/node-panel/editable-name.tsx";
import { NodeLastRun } from "#components/workflow-editor/node-panel/node-last-run.tsx";
import { NodeRelations } from "#components/workflow-editor/node-panel/node-relations.tsx";
import { NodeSettings } from "#components/workflow-editor/node-panel/node-settings.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { nodeUiOf } from "#components/workflow-editor/nodes/node-registry.ts";
import { definitionOf, handlesOf, handleTitle } from "#server/workflow/graph.ts";
import { atDrawnPosition } from "#server/workflow/layout/loop-frames.ts";
import { fieldOf } from "#server/workflow/node-texts.ts";

/** The panel of what is selected: one node's fields, or what can be done with several. */
export function NodePanel() {
  const selected = useEditorShallow((state) => state.nodes.filter((node) => node.selected).map((node) => node.id));
  // Whoever looks at relations or results goes on to look at those of the next node.
  const [tab, setTab] = useState<NodeTab>("settings");
  const only = selected.length === 1 ? selected[0] : undefined;
  if (only)
    return (
      <LastRunProvider>
        <PanelReadsProvider nodeId={only}>
          <OneNode key={only} id={only} tab={tab} onTab={setTab} />
        </PanelReadsProvider>
      </LastRunProvider>
    );
  return selected.length > 1 ? <SeveralNodes count={selected.length} /> : <Nothing />;
}

function Nothing() {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-2 p-6 text-center text-14 text-ink-soft">
      <MousePointerClick aria-hidden className="size-5 text-ink-faint" />
      <p>Select a node to see and change what it does.</p>
    </div>
  );
}

function SeveralNodes({ count }: { count: number }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const extract = () => {
    const nodeIds = editor.getState().nodes.flatMap(({ id, selected }) => (selected ? [id] : []));
    ui.setState({ composing: { kind: "extract", nodeIds } });
  };
  return (
    <div className="flex flex-col gap-3 p-3 text-14">
      <p className="font-semibold">{count} nodes selected</p>
      {!isReadOnly && (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" icon={<Copy />} onClick={() => editor.getState().duplicateSelected()}>
            Duplicate
          </Button>
          <Button size="sm" icon={<Trash2 />} onClick={() => editor.getState().removeSelected()}>
            Delete
          </Button>
          <Button size="sm" icon={<PackagePlus />} onClick={extract}>
            Extract into a workflow…
          </Button>
        </div>
      )}
    </div>
  );
}

function OneNode({ id, tab, onTab }: { id: string; tab: NodeTab; onTab: (tab: NodeTab) => void }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const type = useEditor((state) => state.nodes.find((node) => node.id === id)?.type);
  const data = useEditor((state) => state.data[id]);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const focus = useCanvasUi((state) => (state.focusField?.nodeId === id ? state.focusField : null));
  const panel = useRef<HTMLDivElement>(null);
  const focused = useRef(0);

  useEffect(() => {
    if (!focus || focus.count === focused.current) return;
    // A field is wanted: it is in the settings.
    if (focus.field !== null && tab !== "settings") return onTab("settings");
    focused.current = focus.count;
    const find = (selector: string) => panel.current?.querySelector<HTMLElement>(selector);
    if (tab !== "settings") return find("[role=tab][data-state=active]")?.focus({ preventScroll: true });
    const name = focus.field;
    focusWhenMounted(
      () => {
        const at = (path: string) => find(`[data-field="${CSS.escape(path)}"]`);
        // Of a list, the row that is meant.
        const field = name ? (at(name.split(".", 2).join(".")) ?? at(fieldOf(name))) : null;
        field?.closest("details")?.setAttribute("open", "");
        return (field ?? panel.current)?.querySelector<HTMLElement>("input, textarea, button[role=combobox], select");
      },
      name ? "center" : "nearest",
    );
  }, [focus, tab, onTab]);

  const nodeUi = nodeUiOf(type);
  const definition = definitionOf(type ?? "");
  if (!data || !nodeUi || !definition || !isNodeType(type)) return <Nothing />;
  const label = labelOf(data, type);
  const ways = handlesOf({ type, data });
  const hasWayOut = ways === null || ways.length > 0;
  const isTrigger = definition.group === "trigger";
  const onNext = (handle?: string) => {
    const state = editor.getState();
    const node = state.nodes.find((candidate) => candidate.id === id);
    if (!node) return;
    ui.setState({ palette: { placement: placementAfter(atDrawnPosition(state, node), state, handle), at: null } });
  };
  const settings = <NodeSettings {...{ id, type, data, label, definition, nodeUi, isReadOnly }} />;
  return (
    <div ref={panel} className="flex flex-col gap-4 p-3">
      <div className="flex items-center gap-1.5">
        <NodeIcon type={type} className="size-7" />
        <span data-field="label" className="flex min-w-0 flex-1">
          <EditableName label="Node name" value={label} isReadOnly={isReadOnly} onCommit={(name) => editor.getState().rename(id, name)} />
        </span>
        {!isReadOnly && !isTrigger && (
          <span className="flex">
            <IconButton label="Duplicate node" icon={<Copy />} onClick={() => editor.getState().duplicateSelected()} />
            <IconButton label="Delete node" icon={<Trash2 />} onClick={() => editor.getState().remove([id])} />
          </span>
        )}
      </div>
      <p className="-mt-2 text-12 text-ink-faint">
        {typeTitle(type)}. {definition.summary}.
      </p>
      {definition.isInert ? (
        settings
      ) : (
        <NodeTabs
          value={tab}
          onValueChange={onTab}
          settings={settings}
          run={<NodeLastRun nodeId={id} />}
          relations={<NodeRelations nodeId={id} onNext={!isReadOnly && hasWayOut ? onNext : null} />}
        />
      )}
      {!isReadOnly && hasWayOut && (
        <div className="flex flex-wrap gap-2 border-t pt-3">
          {(ways ?? [undefined]).map((handle) => (
            <Button key={handle ?? ""} size="sm" icon={<Plus />} onClick={() => onNext(handle)}>
              Next step{handle !== undefined && (ways?.length ?? 0) > 1 && ` on ${handleTitle({ type, data }, handle)}`}
            </Button>
          ))}
          <Button size="sm" variant="ghost" icon={<Spline />} onClick={() => ui.setState({ connectFrom: { nodeId: id, handle: null } })}>
            Connect to…
          </Button>
        </div>
      )}
    </div>
  );
}

export const NODE_TABS = ["settings", "run", "relations"] as const;
export type NodeTab = (typeof NODE_TABS)[number];

const TITLES: Record<NodeTab, string> = { settings: "Settings", run: "Last run", relations: "Relations" };

export interface NodeTabsProps {
  value: NodeTab;
  onValueChange: (tab: NodeTab) => void;
  settings: ReactNode;
  run: ReactNode;
  relations: ReactNode;
}

/** The three sides of a node. Its settings stay as they were left; the others are drawn when they are looked at. */
export function NodeTabs({ value, onValueChange, ...panels }: NodeTabsProps) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onValueChange(next as NodeTab)} className="flex flex-col gap-4">
      <Radix.List aria-label="Node" className="flex rounded-md border bg-sunken p-0.5">
        {NODE_TABS.map((tab) => (
          <Radix.Trigger
            key={tab}
            value={tab}
            className="h-6 flex-1 whitespace-nowrap rounded-sm px-2 font-semibold text-14 text-ink-soft hover:text-ink data-[state=active]:bg-raised data-[state=active]:text-ink data-[state=active]:shadow-sm pointer-coarse:h-11"
          >
            {TITLES[tab]}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {NODE_TABS.map((tab) => (
        <Radix.Content
          key={tab}
          value={tab}
          {...(tab === "settings" && { forceMount: true as const })}
          tabIndex={-1}
          className="data-[state=inactive]:hidden"
        >
          {panels[tab]}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

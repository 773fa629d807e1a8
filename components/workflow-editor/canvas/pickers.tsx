"use client";

import { type ReactNode, useEffect, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { SearchList, type SearchOption } from "#components/ui/search-list.tsx";
import { surfaceStyle } from "#components/ui/styles.ts";
import { labelOf, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { nodeChoices } from "#components/workflow-editor/canvas/document/node-choices.ts";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { CanvasUiState } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { filterByText } from "#server/shared/fold-text.ts";
import { checkConnection, definitionOf, handlesOf, handleTitle } from "#server/workflow/graph.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

const items = nodeChoices.map(({ type, title, summary, group }) => ({
  id: type,
  label: title,
  detail: summary,
  group,
  icon: <NodeIcon type={type} />,
}));

/** The list of node types to add, while it is open; `onClose` gives the focus back to the canvas. */
export function Palette({ onClose }: { onClose: () => void }) {
  const palette = useCanvasUi((state) => state.palette);
  return palette && <OpenPalette palette={palette} onClose={onClose} />;
}

function OpenPalette({ palette, onClose }: { palette: NonNullable<CanvasUiState["palette"]>; onClose: () => void }) {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const [before] = useState(() => document.activeElement);
  const close = (added: string | null) => {
    const isNote = editor.getState().nodes.some((node) => node.id === added && node.type === "noteNode");
    ui.setState({ palette: null, ...(isNote && { writing: added }) });
    if (palette.onDone) return palette.onDone(added);
    // Without a new node one goes on where one was, e.g. on a connection.
    const isBack = added === null && before !== document.body && before?.isConnected === true;
    if (isBack && (before instanceof HTMLElement || before instanceof SVGElement)) before.focus({ preventScroll: true });
    else onClose();
  };
  return (
    <FloatingSurface label="Add node" at={palette.at} onClose={() => ui.setState({ palette: null })}>
      <PickList
        label="Search nodes"
        options={items}
        empty="There are no nodes to add."
        onClose={() => close(null)}
        onPick={(id) => close(editor.getState().add(id as NodeType, palette.placement))}
      />
    </FloatingSurface>
  );
}

/** Connecting without a pointer: what the selected node may lead to, as a list. */
export function ConnectPicker({ onClose }: { onClose: () => void }) {
  const from = useCanvasUi((state) => state.connectFrom);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  if (!from) return null;
  const { nodes, data, connect, say, graph } = editor.getState();
  const source = nodes.find((node) => node.id === from.nodeId);
  const close = () => {
    ui.setState({ connectFrom: null });
    (from.onDone ?? onClose)();
  };
  // With several ways out each pair of way and target is a choice of its own.
  const handles = from.handle === null ? ((source && handlesOf({ type: source.type, data: data[source.id] })) ?? [null]) : [from.handle];
  const wayOf = (handle: string) => handleTitle({ type: source?.type, data: data[from.nodeId] }, handle);
  const whole = graph();
  const items = handles.flatMap((handle) =>
    nodes
      .filter((node) => node.id !== from.nodeId && definitionOf(node.type ?? "")?.hasInput)
      .map((node) => ({
        id: `${handle ?? ""} ${node.id}`,
        label: labelOf(data[node.id], node.type),
        detail: handle === null ? typeTitle(node.type) : `${typeTitle(node.type)}, from ${wayOf(handle)}`,
        ...(handle !== null && { group: `From ${wayOf(handle)}` }),
        icon: <NodeIcon type={node.type} />,
        refusal: checkConnection(whole, { source: from.nodeId, sourceHandle: handle, target: node.id }),
      })),
  );
  const name = labelOf(data[from.nodeId], source?.type);
  return (
    <FloatingSurface label={`Connect ${name} to`} at={null} onClose={() => ui.setState({ connectFrom: null })}>
      <PickList
        label={`Connect ${name} to…`}
        options={items.toSorted((a, b) => Number(Boolean(a.refusal)) - Number(Boolean(b.refusal)))}
        empty="There is no other node yet. Press N to add one."
        onClose={close}
        onRefused={say}
        onPick={(id) => {
          const at = id.indexOf(" ");
          connect({ source: from.nodeId, sourceHandle: id.slice(0, at) || null, target: id.slice(at + 1) });
          close();
        }}
      />
    </FloatingSurface>
  );
}

interface PickListProps {
  label: string;
  options: readonly SearchOption[];
  onPick: (id: string) => void;
  onRefused?: (reason: string) => void;
  onClose: () => void;
  empty: string;
}

/** All that there is to choose from is here, and found here. */
function PickList({ options, onPick, onRefused, empty, ...rest }: PickListProps) {
  const [text, setText] = useState("");
  const wanted = text.trim();
  return (
    <SearchList
      {...rest}
      className="max-h-80"
      text={text}
      onTextChange={setText}
      options={filterByText(options, wanted, ({ label, detail, group }) => `${label} ${detail ?? ""} ${group ?? ""}`)}
      isStale={false}
      onPick={({ id, refusal }) => (refusal ? onRefused?.(refusal) : onPick(id))}
      empty={wanted ? `Nothing matches “${text.trim()}”.` : empty}
    />
  );
}

const WIDTH = 288;
const MARGIN = 12;

/** A surface on the canvas: at a point of it (pixels from its corner), or in its upper middle. A click elsewhere closes it. */
export function FloatingSurface({
  label,
  at,
  onClose,
  children,
}: {
  label: string;
  at: { x: number; y: number } | null;
  onClose: () => void;
  children: ReactNode;
}) {
  const surface = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const onPointerDown = (event: PointerEvent) => {
      if (event.target instanceof Node && !surface.current?.contains(event.target)) onClose();
    };
    document.addEventListener("pointerdown", onPointerDown, { capture: true });
    return () => document.removeEventListener("pointerdown", onPointerDown, { capture: true });
  }, [onClose]);
  const place = at
    ? {
        left: `clamp(${MARGIN}px, ${at.x}px, calc(100% - ${WIDTH + MARGIN}px))`,
        top: `clamp(${MARGIN}px, ${at.y}px, max(${MARGIN}px, calc(100% - 340px)))`,
      }
    : { left: `max(${MARGIN}px, calc(50% - ${WIDTH / 2}px))`, top: "12%" };
  return (
    <div
      ref={surface}
      role="dialog"
      aria-label={label}
      className={cn(surfaceStyle, "absolute max-w-[calc(100%-24px)]")}
      style={{ ...place, width: WIDTH }}
    >
      {children}
    </div>
  );
}

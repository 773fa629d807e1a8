"use client";

import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { itemStyle, surfaceStyle } from "#components/ui/styles.ts";
import { labelOf, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { nodeChoices } from "#components/workflow-editor/canvas/document/node-choices.ts";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { CanvasUiState } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { checkConnection, definitionOf, handlesOf, handleTitle } from "#server/workflow/graph.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

const items = nodeChoices.map(({ type, title, summary, group }) => ({
  id: type,
  label: title,
  hint: summary,
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
        items={items}
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
        hint: handle === null ? typeTitle(node.type) : `${typeTitle(node.type)}, from ${wayOf(handle)}`,
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
        items={items.toSorted((a, b) => Number(Boolean(a.refusal)) - Number(Boolean(b.refusal)))}
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

export interface PickItem {
  id: string;
  label: string;
  hint?: string;
  group?: string;
  icon?: ReactNode;
  /** Why it cannot be taken; it stays in the list, dimmed, with the reason. */
  refusal?: string | null;
}

export interface PickListProps {
  label: string;
  items: readonly PickItem[];
  onPick: (id: string) => void;
  onRefused?: (reason: string) => void;
  onClose: () => void;
  empty: string;
}

/** A search field over a list: type to narrow, arrow keys to choose, Enter to take, Esc to close. */
export function PickList({ label, items, onPick, onRefused, onClose, empty }: PickListProps) {
  const listId = useId();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const wanted = query.trim().toLowerCase();
  const shown = items.filter((item) => `${item.label} ${item.hint ?? ""} ${item.group ?? ""}`.toLowerCase().includes(wanted));
  const index = Math.min(active, shown.length - 1);

  useEffect(() => {
    list.current?.querySelector(`[data-index="${index}"]`)?.scrollIntoView({ block: "nearest" });
  }, [index]);

  const take = (item: PickItem | undefined) => {
    if (!item) return;
    if (item.refusal) onRefused?.(item.refusal);
    else onPick(item.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined && shown.length > 0) setActive((index + move + shown.length) % shown.length);
    else if (event.key === "Enter") take(shown[index]);
    else if (event.key === "Escape" || event.key === "Tab") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex max-h-80 min-h-0 flex-col">
      <div className="relative border-b">
        <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-3.5 -translate-y-1/2 text-ink-faint" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the list was asked for; typing goes into it at once
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-label={label}
          placeholder={label}
          autoComplete="off"
          spellCheck={false}
          {...(shown[index] && { "aria-activedescendant": `${listId}${index}` })}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
          className="h-10 w-full bg-transparent pr-3 pl-9 text-14 text-ink outline-none pointer-coarse:text-16"
        />
      </div>
      <div ref={list} id={listId} role="listbox" aria-label={label} className="min-h-0 flex-1 overflow-y-auto p-1">
        {shown.map((item, position) => (
          <div key={item.id} role="presentation">
            {item.group !== undefined && item.group !== shown[position - 1]?.group && (
              <div role="presentation" className="px-2 pt-2 pb-1 text-12 text-ink-faint">
                {item.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys, as the combobox pattern asks */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays in the search field */}
            <div
              id={`${listId}${position}`}
              data-index={position}
              role="option"
              aria-selected={position === index}
              aria-disabled={Boolean(item.refusal)}
              onClick={() => take(item)}
              onPointerMove={() => setActive(position)}
              className={cn(itemStyle, "cursor-pointer py-1", position === index && "bg-hover", item.refusal && "text-ink-soft")}
            >
              {item.icon}
              <span className="flex min-w-0 flex-col">
                <span className="truncate font-semibold">{item.label}</span>
                {(item.refusal ?? item.hint) && <span className="text-12 text-ink-soft">{item.refusal ?? item.hint}</span>}
              </span>
            </div>
          </div>
        ))}
        {shown.length === 0 && <p className="px-2 py-3 text-14 text-ink-soft">{wanted ? `Nothing matches “${query.trim()}”.` : empty}</p>}
      </div>
    </div>
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

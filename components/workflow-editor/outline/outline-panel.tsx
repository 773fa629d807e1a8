"use client";

import { ArrowDown, ArrowUp, Copy, PenLine, Plus, Settings2, Spline, Trash2 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import {
  useCanvasUi,
  useCanvasUiStore,
  useEditor,
  useEditorShallow,
  useEditorStore,
} from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { EditorState } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { insertAfter, moveStep } from "#components/workflow-editor/outline/outline-moves.ts";
import { type OutlineHandlers, OutlineRow } from "#components/workflow-editor/outline/outline-row.tsx";
import { pathTo, rowsOf, typeAhead } from "#components/workflow-editor/outline/outline-rows.ts";
import { type OutlineItem, outlineOf, stepKey } from "#components/workflow-editor/outline/outline-tree.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { alignLoopsToFrames } from "#server/workflow/layout/loop-frames.ts";

/** Letters typed closer together than this many milliseconds are one word. */
const TYPING_MS = 700;

const lineOf = (tree: HTMLElement | null, key: string) => tree?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);

/** What one can do to a line of the outline. */
export type OutlineVerb = "open" | "rename" | "insert" | "up" | "down" | "connect" | "duplicate" | "remove";

/**
 * The workflow as a tree to read and to edit, by keyboard and by screen reader (WAI-ARIA tree view pattern). It shares its
 * selection with the canvas, and every edit goes through the same store, so undo takes it back.
 */
export function OutlinePanel() {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const items = useOutline();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const selected = useEditorShallow((state) => state.nodes.filter((node) => node.selected).map((node) => node.id));
  const only = selected.length === 1 ? selected[0] : undefined;
  const isAsked = useCanvasUi((state) => state.isOutlineAsked);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: "", at: 0 });
  const rows = useMemo(() => rowsOf(items, closed), [items, closed]);
  const found = rows.findIndex(({ item }) => item.key === activeKey);
  const index = found >= 0 ? found : Math.max(0, only === undefined ? 0 : rows.findIndex(({ item }) => item.key === stepKey(only)));
  const active = rows[index];

  // What is selected elsewhere becomes the active line, in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new selection moves the active line
  useEffect(() => {
    if (only === undefined) return;
    const key = stepKey(only);
    const path = pathTo(items, key);
    if (path?.some((outer) => closed.has(outer))) setClosed(new Set([...closed].filter((outer) => !path.includes(outer))));
    setActiveKey(key);
    lineOf(tree.current, key)?.scrollIntoView({ block: "nearest" });
  }, [only]);

  const frame = useRef(0);
  /** The first of these lines that is there once the change is drawn. */
  const focusFirst = (keys: readonly (string | undefined)[]) => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      for (const key of keys) {
        const element = key === undefined ? null : lineOf(tree.current, key);
        if (element) return element.focus();
      }
    });
  };
  const focusKey = (key: string | undefined) => {
    if (key === undefined) return;
    setActiveKey(key);
    focusFirst([key]);
  };
  useEffect(() => {
    if (!isAsked || !active) return;
    ui.setState({ isOutlineAsked: false });
    lineOf(tree.current, active.item.key)?.focus();
  }, [isAsked, active, ui]);

  const rename = (key: string) => {
    // A line that is still to be focused would take the focus from its field, and so end it.
    cancelAnimationFrame(frame.current);
    setRenaming(key);
  };

  const toggle = (key: string, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.add(key);
    else next.delete(key);
    setClosed(next);
  };

  const act = (verb: OutlineVerb) => {
    if (!active) return;
    const { item } = active;
    const state = editor.getState();
    if (item.kind === "link") return verb === "open" ? focusKey(stepKey(item.nodeId)) : undefined;
    if (item.kind === "group" && verb === "open") return active.isOpen === null ? undefined : toggle(item.key, active.isOpen);
    const nodeId = item.kind === "group" ? item.way?.nodeId : item.nodeId;
    if (nodeId === undefined) return;
    const name = labelOf(state.data[nodeId], item.kind === "step" ? item.type : undefined);
    if (verb === "open") return ui.getState().goTo(nodeId, null);
    if (state.isReadOnly) return state.say("This workflow is open for reading only.");
    if (verb === "insert") {
      const placement = insertAfter(alignLoopsToFrames(state), nodeId, item.kind === "group" ? item.way?.handle : undefined);
      if (!placement) return state.say(`Nothing can follow ${name}.`);
      return ui.setState({
        palette: { placement, at: null, onDone: (added) => focusKey(added === null ? item.key : stepKey(added)) },
      });
    }
    if (item.kind === "group") return state.say("Choose a step: this line is a way between steps.");
    if (verb === "rename") return rename(item.key);
    if (verb === "connect") return ui.setState({ connectFrom: { nodeId, handle: null, onDone: () => focusKey(item.key) } });
    state.selectOnly(nodeId);
    if (verb === "duplicate") return state.duplicateSelected();
    if (verb === "remove") {
      state.remove([nodeId]);
      // It may have taken groups with it; the trigger stays itself.
      return focusFirst([...rows.slice(index), ...rows.slice(0, index).reverse()].map((row) => row.item.key));
    }
    const moved = moveStep(state.graph(), nodeId, verb);
    if ("refusal" in moved) return state.say(moved.refusal);
    state.replace(moved.graph, `move ${name} ${verb}`);
    state.say(`${name} moved ${verb}`);
    focusKey(item.key);
  };

  const names = () =>
    rows.map(({ item }) =>
      item.kind === "step" ? labelOf(editor.getState().data[item.nodeId], item.type) : item.kind === "group" ? item.title : "",
    );
  const onKeyDown = (event: KeyboardEvent) => {
    if (!active || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
    const done = (action: () => void) => {
      event.preventDefault();
      action();
    };
    const go = (to: number) => done(() => focusKey(rows[Math.min(rows.length - 1, Math.max(0, to))]?.item.key));
    const verbs: Record<string, OutlineVerb> = event.altKey
      ? { ArrowUp: "up", ArrowDown: "down", KeyN: "insert", KeyC: "connect" }
      : { Enter: "open", F2: "rename", Delete: "remove", Backspace: "remove" };
    const verb = verbs[event.altKey ? event.code : event.key];
    if (verb) return done(() => act(verb));
    if (event.altKey) return;
    const { item, isOpen, parent } = active;
    if (event.key === "ArrowDown") return go(index + 1);
    if (event.key === "ArrowUp") return go(index - 1);
    if (event.key === "Home") return go(0);
    if (event.key === "End") return go(rows.length - 1);
    if (event.key === "ArrowRight") return isOpen === false ? done(() => toggle(item.key, false)) : isOpen && go(index + 1);
    if (event.key === "ArrowLeft") {
      if (isOpen) return done(() => toggle(item.key, true));
      return parent !== null && go(rows.findIndex((row) => row.item.key === parent));
    }
    if (event.key === "*") return done(() => setClosed(new Set()));
    if (event.key.length !== 1 || event.key === "?") return;
    const now = performance.now();
    typed.current = { text: now - typed.current.at < TYPING_MS ? typed.current.text + event.key : event.key, at: now };
    const place = typeAhead(names(), index, typed.current.text);
    done(() => place >= 0 && focusKey(rows[place]?.item.key));
  };

  const latest = useRef<OutlineHandlers>(null as never);
  latest.current = {
    focus({ item }) {
      setActiveKey(item.key);
      if (item.kind !== "step") return;
      if (only !== item.nodeId) editor.getState().selectOnly(item.nodeId);
      ui.getState().reveal(item.nodeId);
    },
    toggle: ({ item, isOpen }) => isOpen !== null && toggle(item.key, isOpen),
    follow: ({ item }) => item.kind === "link" && focusKey(stepKey(item.nodeId)),
    rename: ({ item }) => !isReadOnly && rename(item.key),
    renamed({ item }) {
      setRenaming(null);
      focusKey(item.key);
    },
  };
  const [on] = useState<OutlineHandlers>(() => ({
    focus: (row) => latest.current.focus(row),
    toggle: (row) => latest.current.toggle(row),
    follow: (row) => latest.current.follow(row),
    rename: (row) => latest.current.rename(row),
    renamed: (row) => latest.current.renamed(row),
  }));

  return (
    <div className="flex h-full min-h-0 flex-col">
      <OutlineActions kind={active?.item.kind ?? null} isReadOnly={isReadOnly} onAct={act} />
      <div
        ref={tree}
        role="tree"
        aria-label="Outline of the workflow"
        aria-multiselectable
        className="min-h-0 flex-1 overflow-y-auto p-1.5"
        onKeyDown={onKeyDown}
      >
        {rows.map((row) => (
          <OutlineRow
            key={row.item.key}
            row={row}
            isActive={row === active}
            isSelected={row.item.kind === "step" && selected.includes(row.item.nodeId)}
            isRenaming={renaming === row.item.key}
            on={on}
          />
        ))}
      </div>
    </div>
  );
}

const ACTIONS: readonly { verb: OutlineVerb; label: string; icon: ReactNode; shortcut: string[]; isForGroups?: boolean }[] = [
  { verb: "open", label: "Open settings", icon: <Settings2 />, shortcut: ["Enter"] },
  { verb: "rename", label: "Rename step", icon: <PenLine />, shortcut: ["F2"] },
  { verb: "insert", label: "Insert a step after", icon: <Plus />, shortcut: ["Alt", "N"], isForGroups: true },
  { verb: "up", label: "Move up", icon: <ArrowUp />, shortcut: ["Alt", "↑"] },
  { verb: "down", label: "Move down", icon: <ArrowDown />, shortcut: ["Alt", "↓"] },
  { verb: "connect", label: "Connect to…", icon: <Spline />, shortcut: ["Alt", "C"] },
  { verb: "duplicate", label: "Duplicate step", icon: <Copy />, shortcut: [MOD, "D"] },
  { verb: "remove", label: "Delete step", icon: <Trash2 />, shortcut: ["Delete"] },
];

/** What can be done to the active line, for a finger or a mouse; the tree has keys for all of it. */
export function OutlineActions({
  kind,
  isReadOnly,
  onAct,
}: {
  kind: OutlineItem["kind"] | null;
  isReadOnly: boolean;
  onAct: (verb: OutlineVerb) => void;
}) {
  return (
    <div role="toolbar" aria-label="Outline actions" className="flex flex-wrap items-center gap-0.5 border-b px-2 py-1">
      {ACTIONS.filter(({ verb }) => !isReadOnly || verb === "open").map(({ verb, label, icon, shortcut, isForGroups = false }) => (
        <IconButton
          key={verb}
          label={label}
          icon={icon}
          shortcut={shortcut}
          side="bottom"
          disabled={kind !== "step" && !(kind === "group" && isForGroups)}
          className="pointer-coarse:size-11"
          onClick={() => onAct(verb)}
        />
      ))}
    </div>
  );
}

const shapes = new WeakMap<object, { nodes: object; shape: string }>();

/** All that the outline depends on, as a text: moving and selecting leave it as it is. */
function shapeOf({ nodes, edges }: EditorState): string {
  const known = shapes.get(edges);
  if (known?.nodes === nodes) return known.shape;
  const shape = JSON.stringify([
    nodes.map(({ id, type }) => [id, type]),
    edges.map(({ id, source, target, sourceHandle }) => [id, source, target, sourceHandle]),
  ]);
  shapes.set(edges, { nodes, shape });
  return shape;
}

/** The outline of what is on the canvas. */
export function useOutline(): OutlineItem[] {
  const editor = useEditorStore();
  const shape = useEditor(shapeOf);
  // What reads a loop's output stands after the loop, so there what is typed counts too; it may come a moment later.
  const data = useDeferredValue(useEditor((state) => (state.nodes.some(({ type }) => definitionOf(type ?? "")?.body) ? state.data : null)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: both stand for the graph
  return useMemo(() => outlineOf(editor.getState().graph()), [editor, shape, data]);
}

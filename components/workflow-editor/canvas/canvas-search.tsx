"use client";

import { ChevronDown, ChevronUp, Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { surfaceStyle } from "#components/ui/styles.ts";
import { searchNodes } from "#components/workflow-editor/canvas/document/node-search.ts";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";

/** The search bar over the canvas, while it is open. `onClose` takes the focus when there is nowhere to give it back to. */
export function CanvasSearch({ onClose }: { onClose: () => void }) {
  const search = useCanvasUi((state) => state.search);
  return search ? <SearchBar asked={search.count} onClose={onClose} /> : null;
}

function SearchBar({ asked, onClose }: { asked: number; onClose: () => void }) {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const { agentName } = useAgentNames();
  const [query, setQuery] = useState("");
  /** The node that one is at; null before the first step. */
  const [current, setCurrent] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const [before] = useState(() => document.activeElement);
  // What is edited while the bar is open is searched as it is then; positions only order the result.
  const data = useEditor((state) => state.data);
  const found = useMemo(() => searchNodes({ nodes: editor.getState().nodes, data, agentName }, query), [editor, data, agentName, query]);
  const index = found.findIndex(({ nodeId }) => nodeId === current);
  const at = found[index];

  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for again, the field is ready to be typed over
  useEffect(() => field.current?.select(), [asked]);

  const show = (nodeId: string | undefined) => {
    setCurrent(nodeId ?? null);
    if (nodeId === undefined) return;
    editor.getState().selectOnly(nodeId);
    ui.getState().reveal(nodeId);
  };
  const step = (by: 1 | -1) => {
    if (found.length === 0) return;
    show(found[index < 0 ? (by > 0 ? 0 : found.length - 1) : (index + by + found.length) % found.length]?.nodeId);
  };
  const close = () => {
    ui.setState({ search: null });
    // At a find, one goes on with the node; without one, where one was.
    if (at === undefined && before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
    else onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else return;
    event.preventDefault();
  };
  return (
    <search
      aria-label="Search in canvas"
      className={cn(surfaceStyle, "absolute top-3 left-3 z-20 w-80 max-w-[calc(100%-24px)]")}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposing(event)) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <div className="flex items-center gap-0.5 pr-1 pl-3">
        <Search aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        <input
          ref={field}
          // biome-ignore lint/a11y/noAutofocus: the search was asked for; typing goes into it at once
          autoFocus
          type="text"
          aria-label="Search in canvas"
          placeholder="Search in canvas"
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setCurrent(null);
          }}
          onKeyDown={onKeyDown}
          className="h-9 min-w-0 flex-1 bg-transparent pl-1.5 text-14 text-ink outline-none pointer-coarse:text-16"
        />
        <span role="status" className="shrink-0 px-1 text-12 text-ink-soft tabular">
          {query.trim() === ""
            ? ""
            : found.length === 0
              ? "Nothing found"
              : at
                ? `${index + 1} of ${found.length}`
                : `${found.length} found`}
        </span>
        <IconButton
          label="Previous match"
          icon={<ChevronUp />}
          size="sm"
          shortcut={["Shift", "Enter"]}
          disabled={found.length === 0}
          onClick={() => step(-1)}
        />
        <IconButton
          label="Next match"
          icon={<ChevronDown />}
          size="sm"
          shortcut={["Enter"]}
          disabled={found.length === 0}
          onClick={() => step(1)}
        />
        <IconButton label="Close the search" icon={<X />} size="sm" onClick={close} />
      </div>
      {at && (
        <p aria-live="polite" className="truncate border-t px-3 py-1.5 text-12 text-ink-soft">
          <span className="font-semibold text-ink">{at.label}</span>
          {at.place !== "Name" && ` · ${at.place}: ${at.excerpt}`}
        </p>
      )}
    </search>
  );
}

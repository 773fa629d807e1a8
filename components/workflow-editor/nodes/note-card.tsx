"use client";

import { NodeResizeControl, useStore } from "@xyflow/react";
import { MoveDiagonal2 } from "lucide-react";
import { type CSSProperties, type FocusEvent, useEffect, useRef } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { NodeConfig } from "#components/workflow-editor/nodes/types.ts";
import { NOTE_SIZE } from "#server/workflow/layout/node-size.ts";

/** Colours of a note, by the names kept in the graph; anything else is drawn as the first. */
const COLOURS = new Map([
  ["yellow", "border-role-state/35 bg-role-state-soft"],
  ["green", "border-role-output/35 bg-role-output-soft"],
  ["blue", "border-role-interface/35 bg-role-interface-soft"],
  ["pink", "border-role-human/35 bg-role-human-soft"],
  ["grey", "border-line-strong bg-role-flow-soft"],
]);

/** In the corner and not on it: React Flow's own sheet has no layer, so only the element itself can say otherwise. */
const CORNER: CSSProperties = {
  width: 24,
  height: 24,
  border: "none",
  background: "transparent",
  translate: "-100% -100%",
  transformOrigin: "100% 100%",
  touchAction: "none",
};
const { minWidth, minHeight, maxWidth, maxHeight } = NOTE_SIZE;
const bounded = (value: number | undefined, least: number, most: number) =>
  value === undefined ? undefined : Math.min(Math.max(value, least), most);

/** More characters than this may not all be seen at once on a sheet that nobody made larger. */
const LONG = 300;

/** A note: Markdown on a coloured sheet, as large as somebody made it. A double click opens it for writing. */
export function NoteCard({ id, config, label }: { id: string; config: NodeConfig<"noteNode">; label: string }) {
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isWriting = useCanvasUi((state) => state.writing === id) && !isReadOnly;
  const ui = useCanvasUiStore();
  const width = useStore(({ nodeLookup }) => nodeLookup.get(id)?.width);
  const height = useStore(({ nodeLookup }) => nodeLookup.get(id)?.height);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the node around it takes the keyboard, with F2 for the same
    <div
      onDoubleClick={() => !isReadOnly && ui.setState({ writing: id })}
      className={cn("group relative flex w-80 flex-col rounded-lg border p-4 text-ink", COLOURS.get(config.color) ?? COLOURS.get("yellow"))}
      style={{ width: bounded(width, minWidth, maxWidth), height: bounded(height, minHeight, maxHeight) }}
    >
      {isWriting ? (
        <NoteText id={id} text={config.content} label={label} isSized={height !== undefined} />
      ) : (
        // What may be longer than the sheet is scrolled by the keyboard too.
        <section
          aria-label={`Text of ${label}`}
          tabIndex={config.content.length > LONG || height !== undefined ? 0 : undefined}
          className={cn("canvas-words nowheel min-h-0 overflow-y-auto", height === undefined && "max-h-50")}
        >
          {config.content.trim() ? (
            <Markdown className="text-14 [&>*+*]:mt-2 [&>:first-child]:mt-0 [&_pre]:whitespace-pre-wrap [&_pre]:break-words">
              {config.content}
            </Markdown>
          ) : (
            <p className="text-14 text-ink-faint">{isReadOnly ? "An empty note." : "Double-click to write."}</p>
          )}
        </section>
      )}
      {!isReadOnly && (
        <NodeResizeControl
          position="bottom-right"
          {...{ minWidth, minHeight, maxWidth, maxHeight }}
          style={CORNER}
          className="flex items-end justify-end p-1 text-ink-faint opacity-0 hover:text-ink group-hover:opacity-100 pointer-coarse:opacity-100 [.selected_&]:opacity-100"
        >
          <MoveDiagonal2 aria-hidden className="size-3.5" />
        </NodeResizeControl>
      )}
    </div>
  );
}

/** For how many frames the text is tried to be focused: a new note is hidden until it is measured. */
const PATIENCE = 60;

/** A note's text while somebody writes it on the canvas. It is kept as it is typed; Esc and going elsewhere leave it. */
export function NoteText({ id, text, label, isSized }: { id: string; text: string; label: string; isSized: boolean }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const area = useRef<HTMLTextAreaElement>(null);
  const isBegun = useRef(false);

  const focus = () => {
    let tries = PATIENCE;
    const attempt = () => {
      const { current } = area;
      if (!current || ui.getState().writing !== id) return;
      current.focus({ preventScroll: true });
      if (document.activeElement !== current && tries-- > 0) requestAnimationFrame(attempt);
    };
    requestAnimationFrame(attempt);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it opens
  useEffect(() => {
    const end = area.current?.value.length ?? 0;
    area.current?.setSelectionRange(end, end);
    focus();
  }, []);

  const write = (content: string) => {
    const { nodes, edges, data, setField, apply } = editor.getState();
    // However long one writes, it is one step of undo.
    if (!isBegun.current) setField(id, "content", content);
    else apply("", { nodes, edges, data: { ...data, [id]: { ...data[id], content } } }, { joins: true });
    isBegun.current = true;
  };
  const leave = () => ui.setState((state) => (state.writing === id ? { writing: null } : state));
  const onBlur = ({ relatedTarget, currentTarget }: FocusEvent) => {
    // Another window is no other place, and the card around the text is focused when the note is new, or clicked at its edge.
    if (!document.hasFocus()) return;
    if (relatedTarget !== null && relatedTarget === currentTarget.closest(".react-flow__node")) focus();
    else leave();
  };
  return (
    <textarea
      ref={area}
      aria-label={`Text of ${label}`}
      value={text}
      rows={3}
      onChange={(event) => write(event.target.value)}
      onBlur={onBlur}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposing(event)) return;
        event.preventDefault();
        event.stopPropagation();
        leave();
        event.currentTarget.closest<HTMLElement>(".react-flow__node")?.focus({ preventScroll: true });
      }}
      className={cn(
        "nodrag nowheel nopan field-sizing-content -m-1 min-h-17 resize-none rounded-sm bg-transparent p-1 text-14 text-ink",
        isSized ? "flex-1" : "max-h-52",
      )}
    />
  );
}

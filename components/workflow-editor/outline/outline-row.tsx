"use client";

import { ChevronRight, CornerDownRight } from "lucide-react";
import { type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { useRun } from "#components/runs/store/run-context.tsx";
import { cardStatus } from "#components/runs/store/run-snapshot.ts";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon } from "#components/ui/status.tsx";
import { stateText } from "#components/workflow-editor/canvas/cards/node-state.tsx";
import { accessibleName, labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUi, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import type { OutlineRow as Row } from "#components/workflow-editor/outline/outline-rows.ts";
import type { OutlineStep } from "#components/workflow-editor/outline/outline-tree.ts";
import { severityColor } from "#components/workflow-editor/problems/severity.tsx";

/** Pixels for each level. */
const INDENT = 14;
/** Deeper lines stand no further in: they would leave the panel. */
const DEEPEST = 12;

interface OutlineRowProps {
  row: Row;
  isActive: boolean;
  isSelected: boolean;
  isRenaming: boolean;
  on: OutlineHandlers;
}

/** The same object at each drawing, so that a line is drawn again only when it changes. */
export interface OutlineHandlers {
  focus(row: Row): void;
  toggle(row: Row): void;
  /** Goes to the step that a link names. */
  follow(row: Row): void;
  rename(row: Row): void;
  /** The new name was taken, or given up. */
  renamed(row: Row): void;
}

/** One line of the outline: a step with its state in words, a way, or a link to where the flow goes on. */
export const OutlineRow = memo(function OutlineRow({ row, isActive, isSelected, isRenaming, on }: OutlineRowProps) {
  const { item, level, position, size, isOpen } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={size}
      aria-selected={isSelected}
      {...(isOpen !== null && { "aria-expanded": isOpen })}
      data-key={item.key}
      tabIndex={isActive ? 0 : -1}
      className={cn(
        "flex min-h-7 scroll-my-8 items-center gap-1.5 rounded-md py-0.5 pr-2 text-12 [contain-intrinsic-size:auto_28px] [content-visibility:auto] hover:bg-hover focus-visible:outline-2 focus-visible:outline-thread focus-visible:-outline-offset-2 pointer-coarse:min-h-11",
        isSelected && "bg-press",
      )}
      style={{ paddingLeft: 4 + Math.min(level - 1, DEEPEST) * INDENT }}
      onClick={(event) => {
        if (event.target instanceof Element && event.target.closest("[data-toggle]")) on.toggle(row);
        else if (item.kind === "link") on.follow(row);
      }}
      onDoubleClick={() => item.kind === "step" && on.rename(row)}
      onFocus={(event) => event.target === event.currentTarget && on.focus(row)}
    >
      <span aria-hidden data-toggle={isOpen !== null || undefined} className="inline-flex size-5 shrink-0 items-center justify-center">
        {isOpen !== null && <ChevronRight className={cn("size-3.5 text-ink-faint", isOpen && "rotate-90")} />}
      </span>
      {item.kind === "group" && <GroupWords title={item.title} isEmpty={item.children.length === 0} />}
      {item.kind === "link" && <LinkWords nodeId={item.nodeId} type={item.type} />}
      {item.kind === "step" &&
        (isRenaming ? <RenameField nodeId={item.nodeId} type={item.type} onDone={() => on.renamed(row)} /> : <StepWords step={item} />)}
    </div>
  );
});

const GroupWords = ({ title, isEmpty }: { title: string; isEmpty: boolean }) => (
  <span className="min-w-0 truncate text-ink-soft">
    {title}
    {isEmpty && <span className="text-ink-faint">: nothing follows</span>}
  </span>
);

function LinkWords({ nodeId, type }: { nodeId: string; type: string }) {
  const label = useEditor((state) => labelOf(state.data[nodeId], type));
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-ink-soft">
      <CornerDownRight aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      <span className="truncate">continues at {label}</span>
    </span>
  );
}

function StepWords({ step: { nodeId, type, joins } }: { step: OutlineStep }) {
  const data = useEditor((state) => state.data[nodeId]);
  const run = useRun((state) => state.snapshot?.nodes[nodeId]);
  const status = useRun((state) => (state.snapshot?.nodes[nodeId] ? cardStatus(state.snapshot, nodeId) : null));
  const problems = useCanvasUi((state) => state.problemCounts[nodeId] ?? 0);
  const warnings = useCanvasUi((state) => state.warningCounts[nodeId] ?? 0);
  const color = problems > 0 ? severityColor("error") : warnings > 0 ? severityColor("warning") : "text-ink-soft";
  const state = [data?.disabled === true && "Disabled", stateText(status === "idle" ? null : status, run, problems, warnings)]
    .filter(Boolean)
    .join(". ");
  return (
    <>
      <NodeIcon type={type} className="size-5" />
      <span aria-hidden className={cn("min-w-12 flex-1 truncate font-semibold", data?.disabled === true && "line-through")}>
        {labelOf(data, type)}
      </span>
      <span className="sr-only">
        {accessibleName(type, data)}
        {state && `, ${state}`}
        {joins.length > 1 && `, after ${joins.length} paths`}
      </span>
      {status && status !== "idle" && status !== "queued" && <StatusIcon status={status} isDecorative />}
      {state && (
        <span aria-hidden className={cn("max-w-[55%] shrink-0 truncate text-12", color)}>
          {state}
        </span>
      )}
    </>
  );
}

function RenameField({ nodeId, type, onDone }: { nodeId: string; type: string; onDone: () => void }) {
  const editor = useEditorStore();
  const [name, setName] = useState(() => labelOf(editor.getState().data[nodeId], type));
  const [refusal, setRefusal] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => field.current?.select(), []);

  const finish = () => {
    if (isDone.current) return;
    isDone.current = true;
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === "Escape") finish();
    if (event.key !== "Enter") return;
    const reason = name.trim() === "" ? null : editor.getState().rename(nodeId, name);
    if (reason) setRefusal(reason);
    else finish();
  };
  return (
    <span className="flex min-w-0 flex-1 flex-col gap-0.5">
      <input
        ref={field}
        // biome-ignore lint/a11y/noAutofocus: renaming was asked for; typing goes into it at once
        autoFocus
        aria-label="Step name"
        aria-invalid={refusal !== null || undefined}
        value={name}
        maxLength={120}
        spellCheck={false}
        onChange={(event) => {
          setName(event.target.value);
          setRefusal(null);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          if (isDone.current) return;
          isDone.current = true;
          // A name that cannot be taken is given up with the field.
          if (name.trim() !== "") editor.getState().rename(nodeId, name);
          onDone();
        }}
        className="h-6 w-full rounded-sm border border-thread bg-raised px-1 text-12 text-ink outline-none aria-invalid:border-failed pointer-coarse:text-16"
      />
      {refusal && (
        <span role="alert" className="text-12 text-failed">
          {refusal}
        </span>
      )}
    </span>
  );
}

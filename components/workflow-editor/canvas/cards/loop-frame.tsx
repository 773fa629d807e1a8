"use client";

import { Handle, Position, useUpdateNodeInternals } from "@xyflow/react";
import { ChevronsDownUp, ChevronsUpDown } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { cn } from "#components/ui/cn.ts";
import { useCanvasUi, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { PORT_HEIGHT } from "#server/workflow/layout/loop-frames.ts";

export interface LoopFrameProps {
  id: string;
  /** Where the line into the body starts, in canvas units below the frame's top. */
  entry: number;
  isConnectable: boolean;
  /** Classes that tell its state: selected, running, disabled. */
  className: string;
  /** Icon, name and marks, as on a card. */
  head: ReactNode;
  /** The card's sentence. */
  sentence: ReactNode;
  /** How far it is in a run. */
  foot: ReactNode;
  status: string;
  /** Said to assistive technology. */
  children: ReactNode;
}

/** A loop: a frame around its body, with the way in at its left, `body` inside it and `done` at its right. */
export function LoopFrame({ id, entry, isConnectable, className, head, sentence, foot, status, children }: LoopFrameProps) {
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isTarget = useCanvasUi((state) => state.dropLoop === id);
  const isLeft = useCanvasUi((state) => state.leftLoop === id);
  const isEmpty = useEditor((state) => !state.edges.some((edge) => edge.source === id && (edge.sourceHandle ?? "body") === "body"));
  return (
    <div
      data-status={status}
      className={cn(
        "size-full rounded-xl border border-line-strong border-dashed bg-role-logic-soft/40 transition-[border-color,box-shadow,opacity]",
        className,
        isTarget && "border-thread bg-thread-soft/50 shadow-[0_0_0_1px_var(--thread)]",
        isLeft && "border-waiting shadow-[0_0_0_1px_var(--waiting)]",
      )}
    >
      <div className="loop-head pointer-events-auto rounded-t-xl border-line-strong border-b border-dashed bg-raised/90">
        <div className="flex h-10 items-center gap-2 px-3">
          {head}
          {!isReadOnly && <FoldButton id={id} label="Collapse loop" icon={<ChevronsDownUp />} />}
          <span className="canvas-fine mr-3 shrink-0 font-semibold text-12 text-ink-faint">done</span>
        </div>
        <div className="flex items-center gap-3 px-3 pb-2 *:min-w-0 [&>:first-child]:flex-1 [&>:first-child]:truncate">
          {sentence}
          {foot}
        </div>
      </div>
      <div
        className="absolute left-3 flex h-6 w-14 -translate-y-1/2 items-center rounded-full border border-line-strong bg-raised pl-2.5 font-semibold text-12 text-ink-soft"
        style={{ top: entry }}
      >
        <span className="canvas-fine">body</span>
      </div>
      {isEmpty && (
        <p className="absolute right-6 left-24 -translate-y-1/2 text-center text-14 text-ink-faint" style={{ top: entry }}>
          Drop a node here: it runs for each item
        </p>
      )}
      {(isTarget || isLeft) && (
        <p
          className={cn(
            "absolute bottom-0 left-1/2 z-10 -translate-x-1/2 translate-y-1/2 whitespace-nowrap rounded-full border bg-raised px-2.5 py-0.5 font-semibold text-14",
            isTarget ? "border-thread text-ink" : "border-waiting text-waiting",
          )}
        >
          {isTarget ? "Put into this loop" : "Taken out of this loop"}
        </p>
      )}
      <FramePorts {...{ id, entry, isConnectable }} />
      {children}
    </div>
  );
}

/** On the card of a collapsed loop: draws it as a frame again. Who may only look opens it too. */
export const ExpandLoop = ({ id }: { id: string }) => <FoldButton id={id} label="Expand loop" icon={<ChevronsUpDown />} />;

function FoldButton({ id, label, icon }: { id: string; label: string; icon: ReactNode }) {
  const editor = useEditorStore();
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className="nodrag inline-flex size-6 shrink-0 items-center justify-center rounded-md text-ink-faint hover:bg-hover hover:text-ink [&>svg]:size-3.5"
      onClick={(event) => {
        event.stopPropagation();
        editor.getState().toggleCollapsed(id);
      }}
    >
      {icon}
    </button>
  );
}

/** The ports of a frame: the way in, `body` inside it, and `done`. */
export function FramePorts({ id, entry, isConnectable }: Pick<LoopFrameProps, "id" | "entry" | "isConnectable">) {
  const update = useUpdateNodeInternals();
  // React Flow looks for a port that has moved when it is told to; before its first look at all nodes it must not be.
  const measured = useRef(entry);
  useEffect(() => {
    if (measured.current === entry) return;
    measured.current = entry;
    update(id);
  }, [update, id, entry]);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={isConnectable} style={{ top: PORT_HEIGHT }} />
      <Handle
        type="source"
        id="body"
        position={Position.Right}
        isConnectable={isConnectable}
        className="canvas-body-port"
        style={{ top: entry, left: 68, right: "auto" }}
      />
      <Handle type="source" id="done" position={Position.Right} isConnectable={isConnectable} style={{ top: PORT_HEIGHT }} />
    </>
  );
}

"use client";

import { CircleCheck, TriangleAlert } from "lucide-react";
import { useRef, useState } from "react";
import { plural } from "#components/format.ts";
import { Popover } from "#components/ui/popover.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { PATIENCE } from "#components/workflow-editor/node-panel/focus-soon.ts";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";

/** Leaves the focus to the field that one goes to; when nothing has taken it, e.g. since the field is disabled, it goes back. */
function awaitFocus(back: HTMLElement | null, tries = PATIENCE): void {
  if (document.activeElement !== document.body) return;
  if (tries === 0) back?.focus();
  else requestAnimationFrame(() => awaitFocus(back, tries - 1));
}

/** The list of what would stop a run, each with the way to its field. */
export function ProblemsPopover() {
  const [isOpen, setIsOpen] = useState(false);
  const problems = useCanvasUi((state) => state.problems);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const isGoing = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  const count = problems.length;
  return (
    <Popover
      label="Problems"
      side="top"
      align="start"
      open={isOpen}
      onOpenChange={setIsOpen}
      onCloseAutoFocus={(event) => {
        if (isGoing.current) {
          event.preventDefault();
          awaitFocus(button.current);
        }
        isGoing.current = false;
      }}
      className="max-h-80 w-84 overflow-y-auto p-1.5"
      trigger={
        <button
          ref={button}
          type="button"
          aria-label={count ? plural(count, "problem") : "No problems"}
          className={`ml-0.5 inline-flex h-7 items-center gap-1 rounded-md px-1.5 font-medium text-12 tabular hover:bg-hover ${count ? "text-waiting" : "text-ink-faint"}`}
        >
          {count ? <TriangleAlert aria-hidden className="size-3.5" /> : <CircleCheck aria-hidden className="size-3.5" />}
          {count > 0 && count}
        </button>
      }
    >
      {count === 0 ? (
        <p className="px-2 py-1.5 text-13 text-ink-soft">Nothing stands in the way of a run.</p>
      ) : (
        <ul className="flex flex-col">
          {problems.map(({ node_id, field, message }) => {
            const node = node_id === null ? undefined : editor.getState().nodes.find((candidate) => candidate.id === node_id);
            return (
              <li key={`${node_id} ${field} ${message}`} className="flex items-start gap-2 rounded-md px-2 py-1.5">
                <NodeIcon type={node?.type} className="mt-0.5 size-5" />
                <span className="min-w-0 flex-1 text-12">
                  {node && <span className="font-medium">{labelOf(editor.getState().data[node.id], node.type)}: </span>}
                  <span className="text-ink-soft">{message}</span>
                </span>
                {node && (
                  <button
                    type="button"
                    className="h-6 shrink-0 rounded-sm px-1 text-12 text-thread-text hover:underline"
                    onClick={() => {
                      isGoing.current = true;
                      setIsOpen(false);
                      editor.getState().selectOnly(node.id);
                      ui.getState().goTo(node.id, field);
                    }}
                  >
                    Go to fix
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Popover>
  );
}

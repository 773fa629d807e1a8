"use client";

import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { type Connection, connectionsOf } from "#components/workflow-editor/fields/connections.ts";
import { PanelFold } from "#components/workflow-editor/fields/panel-fold.tsx";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";

export interface ConnectionsTreeProps {
  /** What the fields of this node are written in. */
  language: "expression" | "python";
  /** Puts it into the field that was written in last. */
  onInsert: (code: string) => void;
  isReadOnly: boolean;
}

const codeOf = ({ expression, python }: Connection, language: "expression" | "python") =>
  language === "python" ? python : `{{${expression}}}`;

/** What comes in: every output upstream with its value in the last run. A click puts it in at the caret, a drag where it is dropped. */
export function ConnectionsTree({ language, onInsert, isReadOnly }: ConnectionsTreeProps) {
  const { readable, run } = usePanelReads();
  const nodes = useMemo(() => connectionsOf(readable, run), [readable, run]);
  return (
    <PanelFold title="Connections" aside={run ? "values of the last run" : "no run yet"} isOpen>
      {nodes.length === 0 ? (
        <p className="border-t px-2.5 py-2 text-12 text-ink-faint">Nothing leads here yet. Connect a node to read what it leaves.</p>
      ) : (
        <ul aria-label="Connections" className="max-h-43 min-h-16 resize-y overflow-y-auto border-t p-1">
          {nodes.map((node) => (
            <li key={node.id} className="pb-1">
              <span className="flex items-center gap-1.5 px-1 py-0.5 font-medium text-12">
                <NodeIcon type={node.type} className="size-5" />
                <span className="truncate">{node.name}</span>
              </span>
              <ul aria-label={node.name}>
                {node.values.map((value) => (
                  <Row key={value.expression} value={value} depth={0} {...{ language, onInsert, isReadOnly }} />
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </PanelFold>
  );
}

function Row({ value, depth, language, onInsert, isReadOnly }: ConnectionsTreeProps & { value: Connection; depth: number }) {
  const [isOpen, setIsOpen] = useState(false);
  const inside = useMemo(() => value.inside(), [value]);
  const code = codeOf(value, language);
  const canInsert = !isReadOnly && code !== null;
  return (
    <li>
      <div className="flex items-center" style={{ paddingLeft: depth * 12 }}>
        {inside.length > 0 ? (
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`What is inside ${value.expression}`}
            className="inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-ink-faint hover:bg-hover hover:text-ink"
            onClick={() => setIsOpen(!isOpen)}
          >
            <ChevronRight aria-hidden className={cn("size-3.5 transition-transform", isOpen && "rotate-90")} />
          </button>
        ) : (
          <span className="w-6 shrink-0" />
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dragging is the mouse's way; the button inside does the same */}
        <div
          draggable={canInsert}
          className="min-w-0 flex-1"
          onDragStart={(event) => {
            event.dataTransfer.setData("text/plain", code ?? "");
            event.dataTransfer.effectAllowed = "copy";
          }}
        >
          <button
            type="button"
            disabled={!canInsert}
            aria-label={`Insert ${value.expression}`}
            title={code ?? undefined}
            className={cn(
              "flex min-h-6 w-full items-baseline gap-2 rounded-sm px-1.5 py-0.5 text-left text-12",
              canInsert ? "cursor-grab hover:bg-hover" : "cursor-default",
            )}
            // The field keeps its caret.
            onMouseDown={(event) => event.detail > 1 && event.preventDefault()}
            onClick={() => code !== null && onInsert(code)}
          >
            <span className="shrink-0 font-mono text-11 text-role-interface">{value.label}</span>
            <span className="min-w-0 flex-1 truncate text-11 text-ink-soft">{value.text?.slice(0, 120)}</span>
            {value.kind && <span className="shrink-0 text-10 text-ink-faint">{value.kind}</span>}
          </button>
        </div>
      </div>
      {isOpen && (
        <ul aria-label={`Inside ${value.expression}`}>
          {inside.map((child) => (
            <Row key={child.expression} value={child} depth={depth + 1} {...{ language, onInsert, isReadOnly }} />
          ))}
        </ul>
      )}
    </li>
  );
}

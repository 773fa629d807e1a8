"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { comparisonId } from "#components/workflow-editor/canvas/document/comparison.ts";
import { accessibleName } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { type Changes, type Comparison, useComparison, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { ComparisonAside } from "#components/workflow-editor/history/history-panel.tsx";
import { ChangeTag, ConnectionChanges, FieldChanges } from "#components/workflow-editor/history/version-changes.tsx";
import { LEFT_OUT } from "#components/workflow-editor/proposals/leaving-out.tsx";
import { useProposal } from "#components/workflow-editor/proposals/proposal-context.tsx";
import { type NodeDiff, saidFields } from "#server/workflow/diff.ts";

/** Every change of the proposal in words, each to be kept or left out; of the node that is selected, its fields. */
export function ProposalPanel() {
  const comparison = useComparison();
  const history = useHistoryStore();
  const changes = comparison?.kind === "shown" ? comparison.changes[0] : undefined;
  return (
    <ComparisonAside title="Proposed changes" takesFocus={false} onClose={() => history.setState({ isOpen: false })}>
      {comparison?.kind === "shown" && changes && (
        <ul aria-label="Changes" className="flex min-h-0 flex-1 flex-col gap-1.5 overflow-y-auto p-2">
          {changes.diff.nodes.map((change) => (
            <ProposedChange key={change.id} change={change} changes={changes} comparison={comparison} />
          ))}
          <ConnectionChanges changes={changes} />
        </ul>
      )}
    </ComparisonAside>
  );
}

function ProposedChange({ change, changes, comparison }: { change: NodeDiff; changes: Changes; comparison: Comparison }) {
  const { editor, ui, marks } = comparison;
  const { leftOut, toggle } = useProposal();
  const id = comparisonId(change.id);
  const isSelected = useStore(editor, (state) => state.nodes.some((node) => node.id === id && node.selected));
  const isOut = leftOut.has(change.id);
  const fields = saidFields(change);
  const name = accessibleName(change.node.type, change.node.data);
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  const show = () => {
    editor.getState().selectOnly(isSelected ? null : id);
    if (!isSelected) ui.getState().reveal(id);
  };
  const Chevron = isSelected ? ChevronDown : ChevronRight;
  return (
    <li ref={row} className={cn("shrink-0 rounded-md border bg-raised", isSelected && "border-thread")}>
      <div className="flex items-center gap-1 pr-1">
        <button
          type="button"
          onClick={show}
          {...(fields.length > 0 && { "aria-expanded": isSelected })}
          className="flex min-w-0 flex-1 flex-wrap items-center gap-1.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
        >
          <Chevron aria-hidden className={cn("size-3.5 shrink-0 text-ink-faint", fields.length === 0 && "invisible")} />
          <ChangeTag kind={isOut ? "moved" : change.kind}>{isOut ? LEFT_OUT : (marks.said?.[id] ?? changes.words[change.kind])}</ChangeTag>
          <span className={cn("min-w-0 break-words font-semibold text-12", isOut ? "text-ink-faint line-through" : "text-ink")}>
            {name}
          </span>
        </button>
        {change.kind !== "moved" && (
          <Button size="sm" variant="ghost" aria-label={`${isOut ? "Keep" : "Leave out"} ${name}`} onClick={() => toggle(change.id)}>
            {isOut ? "Keep" : "Leave out"}
          </Button>
        )}
      </div>
      {isSelected && fields.length > 0 && (
        <FieldChanges type={change.node.type} fields={fields} changes={changes} isNew={change.kind === "added"} />
      )}
    </li>
  );
}

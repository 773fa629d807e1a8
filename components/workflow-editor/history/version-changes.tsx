"use client";

import { ArrowRight } from "lucide-react";
import type { ReactNode } from "react";
import { useWorkflowNames } from "#components/shell/use-workflows.ts";
import { ChangedField } from "#components/ui/changed-field.tsx";
import { cn } from "#components/ui/cn.ts";
import { comparisonId, type DiffLabels } from "#components/workflow-editor/canvas/document/comparison.ts";
import { accessibleName } from "#components/workflow-editor/canvas/document/flow-document.ts";
import type { Changes, Comparison } from "#components/workflow-editor/history/history-context.tsx";
import { fieldTitle, formatEdge, formatFieldValue } from "#components/workflow-editor/history/version-format.ts";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import type { FieldChange, NodeDiff, NodeDiffKind } from "#server/workflow/diff.ts";

const TONES: Record<NodeDiffKind, string> = {
  added: "bg-thread-soft text-thread-text",
  changed: "bg-waiting-soft text-waiting",
  removed: "bg-failed-soft text-failed",
  moved: "bg-sunken text-ink-soft",
};
const ORDER: NodeDiffKind[] = ["changed", "added", "removed", "moved"];

/** Which side is which: "Version 1", an arrow, "Draft". */
export function ComparedSides({ comparison: { before, after } }: { comparison: Comparison }) {
  return (
    <span className="inline-flex items-center gap-1">
      {before.title}
      <ArrowRight aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">to</span>
      {after.title}
    </span>
  );
}

/** Every difference in words: node by node, field by field, then the connections. A click shows the node. */
export function VersionChanges({ comparison }: { comparison: Comparison }) {
  const shown = comparison.changes.filter(({ diff }) => diff.nodes.length + diff.edges.length > 0);
  if (shown.length === 0)
    return <p className="px-3 py-2 text-14 text-ink-soft">Nothing differs: both have the same nodes, values and connections.</p>;
  return shown.map((changes) => (
    <div key={changes.title ?? ""}>
      {changes.title && <h4 className="px-3 pt-2 font-semibold text-12 text-ink">{changes.title}</h4>}
      <ChangeList changes={changes} comparison={comparison} />
    </div>
  ));
}

function ChangeList({ changes, comparison }: { changes: Changes; comparison: Comparison }) {
  const { title, diff } = changes;
  const nodes = [...diff.nodes].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return (
    <ul aria-label={title ? `Changes ${title.toLowerCase()}` : "Changes"} className="flex flex-col gap-1.5 p-2">
      {nodes.map((node) => (
        <NodeChange key={node.id} change={node} changes={changes} comparison={comparison} />
      ))}
      <ConnectionChanges changes={changes} />
    </ul>
  );
}

/** Every connection that differs, as items of a list. */
export function ConnectionChanges({ changes: { diff, before, after, words } }: { changes: Changes }) {
  return diff.edges.map((change) => (
    <li key={`edge ${change.kind} ${change.id}`} className="flex items-baseline gap-1.5 px-2 py-1 text-12 text-ink">
      <Tag kind={change.kind} words={words} />
      <span className="min-w-0 break-words">Connection {formatEdge(change, after.graph, before.graph)}</span>
    </li>
  ));
}

function Tag({ kind, words }: { kind: NodeDiffKind; words: DiffLabels }) {
  return <ChangeTag kind={kind}>{words[kind]}</ChangeTag>;
}

export function ChangeTag({ kind, children }: { kind: NodeDiffKind; children: ReactNode }) {
  return <span className={cn("shrink-0 rounded-sm px-1.5 py-0.5 font-semibold text-12 leading-none", TONES[kind])}>{children}</span>;
}

function NodeChange({ change, changes, comparison }: { change: NodeDiff; changes: Changes; comparison: Comparison }) {
  const { editor, ui } = comparison;
  const { words } = changes;
  const show = () => {
    editor.getState().selectOnly(comparisonId(change.id));
    ui.getState().reveal(comparisonId(change.id));
  };
  return (
    <li className="rounded-md border bg-raised">
      <button
        type="button"
        onClick={show}
        className="flex w-full flex-wrap items-center gap-1.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
      >
        <Tag kind={change.kind} words={words} />
        <span className="min-w-0 break-words font-semibold text-12 text-ink">{accessibleName(change.node.type, change.node.data)}</span>
      </button>
      {change.fields.length > 0 && <FieldChanges type={change.node.type} fields={change.fields} changes={changes} />}
    </li>
  );
}

interface FieldChangesProps {
  type: string;
  fields: readonly FieldChange[];
  changes: Changes;
  /** There was nothing before. */
  isNew?: boolean;
}

/** Fields of a node before and after. */
export function FieldChanges({ fields, ...rest }: FieldChangesProps) {
  return (
    <dl className="flex flex-col gap-2 border-t px-2 py-2">
      {fields.map((field) => (
        <FieldChangeView key={field.field} change={field} {...rest} />
      ))}
    </dl>
  );
}

function FieldChangeView({ type, change, changes, isNew = false }: Omit<FieldChangesProps, "fields"> & { change: FieldChange }) {
  const { agentName } = useAgentNames();
  const workflow = useWorkflowNames(change.field === "workflow_id");
  const words = (value: unknown) => formatFieldValue(type, change.field, value, { agent: agentName, workflow });
  if (isNew)
    return (
      <div className="flex flex-col gap-1 text-12">
        <dt className="font-semibold text-ink-soft">{fieldTitle(type, change.field)}</dt>
        <dd className="max-h-40 overflow-y-auto whitespace-pre-wrap break-words text-ink">{words(change.after)}</dd>
      </div>
    );
  return (
    <ChangedField
      title={fieldTitle(type, change.field)}
      before={{ title: changes.before.title, text: words(change.before) }}
      after={{ title: changes.after.title, text: words(change.after) }}
    />
  );
}

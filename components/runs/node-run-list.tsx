"use client";

import { formatCount, formatDuration, plural } from "#components/format.ts";
import { loopWords } from "#components/runs/loops/loop-strip.tsx";
import { usedBy } from "#components/runs/store/picture-loops.ts";
import { useRunShallow } from "#components/runs/store/run-context.tsx";
import { type CardStatus, cardStatus } from "#components/runs/store/run-picture.ts";
import { cn } from "#components/ui/cn.ts";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";

/** The nodes of a run in the order in which they started, then those not reached. */
export function NodeRunList({ selected }: { selected: string | null }) {
  const ids = useRunShallow(({ picture, view }) => {
    const order = picture?.order ?? [];
    const rest = view?.graph.nodes.filter((node) => !definitionOf(node.type)?.isInert && !order.includes(node.id)).map((node) => node.id);
    return [...order, ...(rest ?? [])];
  });
  return (
    <ul aria-label="Nodes of this run" className="flex flex-col gap-px p-1">
      {ids.map((id) => (
        <NodeRunRow key={id} id={id} isSelected={id === selected} />
      ))}
    </ul>
  );
}

const SAID: Partial<Record<CardStatus, string>> = { running: "Running", waiting: "Waiting" };

function NodeRunRow({ id, isSelected }: { id: string; isSelected: boolean }) {
  const editor = useEditorStore();
  const row = useRunShallow(({ picture, view }) => {
    const node = view?.graph.nodes.find((candidate) => candidate.id === id);
    const run = picture?.nodes[id];
    return {
      type: node?.type,
      label: node ? labelOf(node) : id,
      status: picture ? cardStatus(picture, id) : ("idle" as const),
      ...(run ? usedBy(run) : { duration_ms: null, tokens: 0, count: 0 }),
      attempt: run?.attempt ?? 0,
      iteration: run?.iteration ?? "",
      progress: run?.iterations ? loopWords(run.iterations) : null,
      // Left out of a run that went only as far as one node are those that were skipped before it began.
      isReused: (run?.reused ?? false) || run?.pinned === true,
      isPinned: run?.pinned === true,
    };
  });
  return (
    <li>
      <button
        type="button"
        aria-current={isSelected || undefined}
        className={cn(
          "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left text-12 text-ink hover:bg-hover pointer-coarse:h-10",
          isSelected && "bg-press",
          row.status === "skipped" && "text-ink-soft grayscale",
        )}
        onClick={() => editor.getState().selectOnly(id)}
      >
        <StatusIcon status={row.status} isDecorative />
        <NodeIcon type={row.type} className="size-5" />
        <span className={cn("min-w-0 flex-1 truncate font-medium", row.status === "failed" && "text-failed")}>{row.label}</span>
        <span className="sr-only">, {statusLooks[row.status].label}</span>
        {row.isReused && (
          <span className="shrink-0 text-11 text-ink-soft">
            {row.status === "skipped" ? "Left out" : row.isPinned ? "Pinned" : "Reused"}
          </span>
        )}
        {row.iteration !== "" && (
          <span className="shrink-0 text-11 text-ink-soft tabular">
            {row.count > 0 && row.duration_ms !== null ? plural(row.count, "item") : `item ${row.iteration}`}
          </span>
        )}
        {row.progress !== null && <span className="shrink-0 text-11 text-ink-soft tabular">{row.progress}</span>}
        {row.attempt > 1 && <span className="shrink-0 text-11 text-ink-soft">try {row.attempt}</span>}
        {row.tokens > 0 && <span className="shrink-0 text-11 text-ink-soft tabular">{formatCount(row.tokens)} tokens</span>}
        <span className="min-w-12 shrink-0 text-right text-11 text-ink-soft tabular">
          {row.duration_ms === null ? (SAID[row.status] ?? "") : formatDuration(row.duration_ms)}
        </span>
      </button>
    </li>
  );
}

"use client";

import { ListTree, Pin } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { formatCount, formatDuration, formatItem, plural } from "#components/format.ts";
import { formatLoopProgress } from "#components/runs/loops/loop-progress.tsx";
import { NodeValues } from "#components/runs/node-values.tsx";
import { useEditorRun, useRun, useRunShallow } from "#components/runs/store/run-context.tsx";
import { type CardStatus, cardStatus, mayAsk, usageOf } from "#components/runs/store/run-snapshot.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { CopyButton } from "#components/ui/copy.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";

/** A run beneath the canvas: its nodes, how it ended, and what went into and came out of the one that is selected. */
export function RunPanelBody({ executionId, selected }: { executionId: string; selected: string | null }) {
  const isAsking = useRun(({ snapshot, view }) => {
    const type = view?.graph.nodes.find(({ id }) => id === selected)?.type;
    return selected !== null && snapshot?.waiting[selected] !== undefined && mayAsk(type);
  });
  const [listedFor, setListedFor] = useState<string | null>(null);
  // On a phone a question takes the whole sheet, until somebody asks for the nodes.
  const isFolded = isAsking && listedFor !== selected;
  return (
    <div className="flex h-full min-h-0 max-md:flex-col">
      <div
        className={cn(
          "w-(--layout-run-list,300px) shrink-0 overflow-y-auto max-md:max-h-[40%] max-md:w-full max-md:border-b",
          isFolded && "max-md:hidden",
        )}
      >
        <NodeRunList selected={selected} />
        <RunFinish />
      </div>
      <ResizableDivider
        name="run-list"
        label="Resize the list of nodes"
        orientation="vertical"
        area="before"
        defaultSize={300}
        min={200}
        max={600}
        className="max-md:hidden"
      />
      <div className="min-h-0 min-w-0 flex-1">{selected && <NodeValues key={`${executionId} ${selected}`} nodeId={selected} />}</div>
      {isAsking && (
        <Button
          size="sm"
          variant="ghost"
          icon={<ListTree />}
          aria-expanded={!isFolded}
          className="h-9 w-full rounded-none border-t-line md:hidden"
          onClick={() => setListedFor(isFolded ? selected : null)}
        >
          {isFolded ? "Show all nodes of the run" : "Hide the nodes of the run"}
        </Button>
      )}
    </div>
  );
}

/** The nodes of a run in the order in which they started, then those not reached. */
export function NodeRunList({ selected }: { selected: string | null }) {
  const ids = useRunShallow(({ snapshot, view }) => {
    const order = snapshot?.order ?? [];
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

const STATUS_LABELS: Partial<Record<CardStatus, string>> = { running: "Running", waiting: "Waiting" };

function NodeRunRow({ id, isSelected }: { id: string; isSelected: boolean }) {
  const editor = useEditorStore();
  const row = useRunShallow(({ snapshot, view }) => {
    const node = view?.graph.nodes.find((candidate) => candidate.id === id);
    const run = snapshot?.nodes[id];
    return {
      type: node?.type,
      label: node ? labelOf(node) : id,
      status: snapshot ? cardStatus(snapshot, id) : ("idle" as const),
      ...(run ? usageOf(run) : { duration_ms: null, tokens: 0, count: 0 }),
      attempt: run?.attempt ?? 0,
      iteration: run?.iteration ?? "",
      progress: run?.iterations ? formatLoopProgress(run.iterations) : null,
      // Left out of a run that went only as far as one node are those that were skipped before it began.
      isReused: (run?.reused ?? false) || run?.pinned === true,
      isPinned: run?.pinned === true,
    };
  });
  const line = useRef<HTMLLIElement>(null);
  // A run that fails shows the node that did, wherever in the list it stands.
  useEffect(() => {
    if (isSelected) line.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <li ref={line}>
      <button
        type="button"
        aria-current={isSelected || undefined}
        className={cn(
          "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left text-12 text-ink hover:bg-hover pointer-coarse:h-11",
          isSelected && "bg-press",
          row.status === "skipped" && "text-ink-soft grayscale",
        )}
        onClick={() => editor.getState().selectOnly(id)}
      >
        <StatusIcon status={row.status} isDecorative />
        <NodeIcon type={row.type} className="size-5" />
        <span className={cn("min-w-0 flex-1 truncate font-semibold", row.status === "failed" && "text-failed")}>{row.label}</span>
        <span className="sr-only">, {statusLooks[row.status].label}</span>
        {row.isReused && (
          <span className="shrink-0 text-12 text-ink-soft">
            {row.status === "skipped" ? "Left out" : row.isPinned ? "Pinned" : "Reused"}
          </span>
        )}
        {row.iteration !== "" && (
          <span className="shrink-0 text-12 text-ink-soft tabular">
            {row.count > 0 && row.duration_ms !== null ? plural(row.count, "item") : formatItem(row.iteration)}
          </span>
        )}
        {row.progress !== null && <span className="shrink-0 text-12 text-ink-soft tabular">{row.progress}</span>}
        {row.attempt > 1 && <span className="shrink-0 text-12 text-ink-soft">try {row.attempt}</span>}
        {row.tokens > 0 && <span className="shrink-0 text-12 text-ink-soft tabular">{formatCount(row.tokens)} tokens</span>}
        <span className="min-w-12 shrink-0 text-right text-12 text-ink-soft tabular">
          {row.duration_ms === null ? (STATUS_LABELS[row.status] ?? "") : formatDuration(row.duration_ms)}
        </span>
      </button>
    </li>
  );
}

const MAX_CHARACTERS = 400;

/** How a run ended: its final output, or the error in full. */
export function RunFinish() {
  const editor = useEditorStore();
  const editorRun = useEditorRun();
  const failed = useRun(({ snapshot }) => snapshot?.order.findLast((id) => snapshot.nodes[id]?.status === "failed") ?? null);
  const { isOver, output, error } = useRunShallow(({ snapshot }) => ({
    isOver: snapshot ? isFinal(snapshot.status) : false,
    output: snapshot?.output ?? null,
    error: snapshot?.error ?? null,
  }));
  if (!isOver || (output === null && error === null)) return null;
  return (
    <div className="border-t p-3">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-semibold text-12">{error === null ? "Result" : "Why it failed"}</h3>
        {output !== null && error === null && (
          <CopyButton value={output} what="result" className="relative z-1 size-6 pointer-coarse:-my-2.5" />
        )}
      </div>
      {error !== null ? (
        <p role="alert" className="whitespace-pre-wrap break-words text-12 text-failed">
          {error}
        </p>
      ) : (
        <p className="whitespace-pre-wrap break-words text-12 text-ink-soft">
          {output === "" ? "Empty" : (output ?? "").slice(0, MAX_CHARACTERS)}
          {(output ?? "").length > MAX_CHARACTERS && "…"}
        </p>
      )}
      {editorRun && !editorRun.isReadOnly && (
        <Button size="sm" variant="ghost" icon={<Pin />} className="-ml-2 mt-1" onClick={() => editorRun.pinAll()}>
          Pin all outputs
        </Button>
      )}
      {failed && error !== null && (
        <button
          type="button"
          className="mt-1 text-12 text-thread-text hover:underline"
          onClick={() => editor.getState().selectOnly(failed)}
        >
          Show the node that failed
        </button>
      )}
    </div>
  );
}

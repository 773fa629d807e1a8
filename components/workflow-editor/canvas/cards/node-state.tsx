"use client";

import { Clock, ClockAlert, SkipForward } from "lucide-react";
import { formatCount, formatDuration, plural } from "#components/format.ts";
import { formatLoopProgress, LoopProgress } from "#components/runs/loops/loop-progress.tsx";
import { useEditorRun, useRun } from "#components/runs/store/run-context.tsx";
import { type CardStatus, type NodeSnapshot, usageOf } from "#components/runs/store/run-snapshot.ts";
import { Link } from "#components/ui/link.tsx";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { NodeDecision } from "#components/workflow-editor/canvas/cards/node-decision.tsx";
import type { NodeData } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { waitingText } from "#components/workflow-editor/nodes/node-registry.ts";
import { canPin } from "#server/workflow/pins.ts";

/** The state of a node at the right of its card's head. */
export function NodeStateMark({ status }: { status: CardStatus }) {
  if (status === "idle" || status === "complete") return null;
  if (status === "queued") return <Clock aria-hidden className="size-3.5 shrink-0 text-ink-faint" />;
  if (status === "skipped") return <SkipForward aria-hidden className="size-3.5 shrink-0 text-skipped" />;
  return <StatusIcon status={status} isDecorative />;
}

/** What a screen reader is told about a node besides its name. */
export function stateText(status: CardStatus | null, run: NodeSnapshot | undefined, problems: number, warnings: number): string {
  const parts: string[] = [];
  if (status) parts.push(statusLooks[status].label);
  if (run?.iterations) parts.push(formatLoopProgress(run.iterations));
  if (run?.error) parts.push(run.error.split("\n")[0] ?? "");
  if (problems > 0) parts.push(plural(problems, "problem"));
  if (warnings > 0) parts.push(plural(warnings, "warning"));
  return parts.join(". ");
}

const LAST_CHARACTERS = 360;

interface NodeRunFootProps {
  type: string;
  data: NodeData;
  status: CardStatus;
  run: NodeSnapshot;
}

/** Foot of a card in a run: words as they arrive, how long it took, or why it failed; and the run that it has started. */
export const NodeRunFoot = (props: NodeRunFootProps) => (
  <>
    <HowItStands {...props} />
    {props.run.child_execution_id && (
      <Link
        href={`/runs/${props.run.child_execution_id}`}
        className="nodrag inline-flex min-h-6 items-center self-start text-12 text-thread-text hover:underline"
      >
        Open its run
      </Link>
    )}
  </>
);

function HowItStands({ type, data, status, run }: NodeRunFootProps) {
  if (status === "running" && run.arriving)
    return (
      <div className="flex max-h-16 flex-col justify-end overflow-hidden border-t pt-1.5 [mask:linear-gradient(to_bottom,transparent,#000_14px)]">
        <p className="whitespace-pre-wrap break-words font-mono text-14 text-ink-soft leading-4.5" data-arriving>
          {run.arriving.slice(-LAST_CHARACTERS)}
        </p>
      </div>
    );
  if (status === "failed")
    return (
      <p className="line-clamp-2 break-words border-failed/30 border-t pt-1.5 text-14 text-failed" title={run.error ?? undefined}>
        {run.error}
      </p>
    );
  if (status === "stopped") {
    const begun = run.output ?? run.arriving;
    return (
      <div className="flex flex-col gap-1 border-t pt-1.5">
        {begun && <p className="line-clamp-3 whitespace-pre-wrap break-words font-mono text-14 text-ink-soft leading-4.5">{begun}</p>}
        <p className="canvas-fine text-12 text-ink-faint tabular">
          Stopped{run.duration_ms !== null && ` after ${formatDuration(run.duration_ms)}`}
        </p>
      </div>
    );
  }
  if (run.iterations)
    return (
      <div className="canvas-fine [&_span]:text-12">
        <LoopProgress iterations={run.iterations} />
      </div>
    );
  if (status === "waiting")
    return (
      <>
        <p className="border-waiting/30 border-t pt-1.5 font-semibold text-14 text-waiting">{waitingText(type, data, run.waits_until)}</p>
        <NodeDecision />
      </>
    );
  if (status !== "complete") return null;
  const { tokens, duration_ms, count } = usageOf(run);
  return (
    <p className="canvas-fine flex items-center justify-end gap-1.5 text-12 text-ink-faint tabular">
      {run.reused && !run.pinned && <span>Reused</span>}
      {run.attempt > 1 && <span>{run.attempt} tries</span>}
      {count > 0 && <span>{plural(count, "item")}</span>}
      {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
      {duration_ms !== null && <span>{formatDuration(duration_ms)}</span>}
      <StatusIcon status="complete" isDecorative />
    </p>
  );
}

/** Whether a pinned output stands in for the node: in the editor as the canvas has it, on a run's page as it was. */
function useIsPinned(id: string): boolean {
  const isEditor = useEditorRun() !== null;
  const onCanvas = useEditor(({ data, nodes }) => {
    const { pinned, disabled } = data[id] ?? {};
    if (pinned === undefined || pinned === null || disabled === true) return false;
    return canPin({ type: nodes.find((node) => node.id === id)?.type ?? "" });
  });
  const inRun = useRun((state) => state.snapshot?.nodes[id]?.pinned === true);
  return isEditor ? onCanvas : inRun;
}

/** At the right of a card's head: that its output is pinned, and that what the run left here no longer holds. */
export function NodeMarks({ id }: { id: string }) {
  const isPinned = useIsPinned(id);
  const stale = useRun((state) => state.stale[id]);
  return (
    <>
      {stale !== undefined && (
        <Tooltip content={`Out of date: ${stale}`}>
          <span className="nodrag inline-flex size-6 shrink-0 items-center justify-center text-waiting" data-stale>
            <ClockAlert aria-hidden className="size-3.5" />
          </span>
        </Tooltip>
      )}
      {isPinned && (
        <Tooltip content="Test runs take the pinned output instead of running this node. Published versions run it.">
          <span className="inline-flex h-6 shrink-0 items-center gap-1 font-semibold text-12 text-role-human" data-pinned>
            <span aria-hidden className="size-2 rounded-full bg-role-human" />
            <span className="canvas-fine">Pinned</span>
          </span>
        </Tooltip>
      )}
    </>
  );
}

/** The same for those who do not see it: a part of the node's description. */
export function NodeMarkDescription({ id }: { id: string }) {
  const isPinned = useIsPinned(id);
  const stale = useRun((state) => state.stale[id]);
  return (
    <>
      {isPinned && "Pinned. "}
      {stale !== undefined && `Out of date: ${stale} `}
    </>
  );
}

import { Clock, SkipForward } from "lucide-react";
import { formatCount, formatDuration, plural } from "#components/format.ts";
import { LoopProgress, loopWords } from "#components/runs/loops/loop-strip.tsx";
import { usedBy } from "#components/runs/store/picture-loops.ts";
import type { CardStatus, NodePicture } from "#components/runs/store/run-picture.ts";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { NodeDecision } from "#components/workflow-editor/canvas/cards/node-decision.tsx";

/** The state of a node at the right of its card's head. */
export function NodeStateMark({ status }: { status: CardStatus }) {
  if (status === "idle" || status === "complete") return null;
  if (status === "queued") return <Clock aria-hidden className="size-3.5 shrink-0 text-ink-faint" />;
  if (status === "skipped") return <SkipForward aria-hidden className="size-3.5 shrink-0 text-skipped" />;
  return <StatusIcon status={status} isDecorative />;
}

/** What a screen reader is told about a node besides its name. */
export function stateText(status: CardStatus | null, run: NodePicture | undefined, problems: number): string {
  const parts: string[] = [];
  if (status) parts.push(statusLooks[status].label);
  if (run?.iterations) parts.push(loopWords(run.iterations));
  if (run?.error) parts.push(run.error.split("\n")[0] ?? "");
  if (problems > 0) parts.push(problems === 1 ? "1 problem" : `${problems} problems`);
  return parts.join(". ");
}

const LAST_CHARACTERS = 360;

/** Foot of a card in a run: words as they arrive, how long it took, or why it failed. */
export function NodeRunFoot({ status, run }: { status: CardStatus; run: NodePicture }) {
  if (status === "running" && run.arriving)
    return (
      <div className="flex max-h-16 flex-col justify-end overflow-hidden border-t pt-1.5 [mask:linear-gradient(to_bottom,transparent,#000_14px)]">
        <p className="whitespace-pre-wrap break-words font-mono text-10 text-ink-soft" data-arriving>
          {run.arriving.slice(-LAST_CHARACTERS)}
        </p>
      </div>
    );
  if (status === "failed")
    return (
      <p className="line-clamp-2 break-words border-failed/30 border-t pt-1.5 text-11 text-failed" title={run.error ?? undefined}>
        {run.error}
      </p>
    );
  if (run.iterations) return <LoopProgress iterations={run.iterations} />;
  if (status === "waiting")
    return (
      <>
        <p className="border-waiting/30 border-t pt-1.5 font-medium text-11 text-waiting">Waiting for approval. Select to read it.</p>
        <NodeDecision />
      </>
    );
  if (status !== "complete") return null;
  const { tokens, duration_ms, count } = usedBy(run);
  return (
    <p className="flex items-center justify-end gap-1.5 text-11 text-ink-faint tabular">
      {run.reused && !run.pinned && <span>Reused</span>}
      {run.attempt > 1 && <span>{run.attempt} tries</span>}
      {count > 0 && <span>{plural(count, "item")}</span>}
      {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
      {duration_ms !== null && <span>{formatDuration(duration_ms)}</span>}
      <StatusIcon status="complete" isDecorative />
    </p>
  );
}

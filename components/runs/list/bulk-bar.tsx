"use client";

import { Ban, RotateCw, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { formatCount, plural } from "#components/format.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import type { BulkAction, BulkKind } from "#server/features/executions/schema.ts";
import type { ExecutionFilter } from "#server/runs/schema.ts";

const BulkDialog = loadedOnUse(() => import("#components/runs/list/bulk-dialog.tsx").then((module) => module.BulkDialog));

/** How often it is asked how far it is, in milliseconds. */
const LOOK_MS = 1000;

/** What is chosen: rows, or all that match. */
export interface Chosen {
  ids: readonly string[];
  /** In place of ids. */
  filter: ExecutionFilter | null;
  /** How many that is. */
  count: number;
}

interface BulkBarProps {
  chosen: Chosen;
  /** How many match in all; null when that is more than can be done at once. */
  total: number | null;
  onAll: () => void;
  onClear: () => void;
  onStarted: (bulkId: string) => void;
}

/** What can be done with the runs that are chosen. */
export function BulkBar({ chosen: { ids, filter, count }, total, onAll, onClear, onStarted }: BulkBarProps) {
  const [asked, setAsked] = useState<BulkKind | null>(null);
  const isMore = filter === null && total !== null && total > count;
  return (
    <section
      aria-label="Selected runs"
      className="sticky top-2 z-20 -mb-2 flex flex-wrap items-center gap-2 rounded-lg border border-line-strong bg-raised px-3 py-2 text-14 shadow-md"
    >
      <p role="status" className="font-semibold tabular">
        {filter ? `All ${formatCount(count)} that match` : `${formatCount(count)} selected`}
      </p>
      {isMore && (
        <Button variant="ghost" onClick={onAll}>
          Select all {formatCount(total)} that match
        </Button>
      )}
      <span className="ml-auto flex flex-wrap gap-2">
        <Button icon={<RotateCw />} onClick={() => setAsked("rerun")}>
          Run again
        </Button>
        <Button icon={<Ban />} onClick={() => setAsked("cancel")}>
          Cancel runs
        </Button>
        <Button icon={<Trash2 />} variant="danger" onClick={() => setAsked("delete")}>
          Delete
        </Button>
        <Button variant="ghost" onClick={onClear}>
          Clear
        </Button>
      </span>
      {asked && (
        <BulkDialog
          action={asked}
          count={count}
          {...(filter ? { filter } : { ids: [...ids] })}
          onClose={() => setAsked(null)}
          onStarted={onStarted}
        />
      )}
    </section>
  );
}

const DONE: Record<BulkKind, string> = { cancel: "cancelled", rerun: "started again", delete: "deleted" };
const IDLE: Record<BulkKind, string> = {
  cancel: "had ended already or are gone",
  rerun: "had not ended or are gone",
  delete: "had not ended or are gone",
};

/** What came of it, in a sentence: "12 of 14 cancelled, 2 had ended already." */
export function summaryOf({ action, count, done, succeeded, skipped, failed }: BulkAction): string {
  const parts = [`${formatCount(succeeded)} of ${plural(count, "run")} ${DONE[action]}`];
  if (skipped) parts.push(`${formatCount(skipped)} ${IDLE[action]}`);
  if (failed) parts.push(`${formatCount(failed)} failed`);
  if (done < count) parts.push(`${formatCount(count - done)} not begun`);
  return `${parts.join(", ")}.`;
}

/** How far it is with something that is done with many runs, and in the end what came of it. */
export function BulkProgress({ bulkId, onClose, onDone }: { bulkId: string; onClose: () => void; onDone: () => void }) {
  const { client } = useApi();
  const [state, setState] = useState<BulkAction | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const tell = (error: unknown) => setFailure(errorBodyOf(error).detail);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isGone = false;
    const look = async () => {
      try {
        const now = await client.executions.getBulk.query({ bulk_id: bulkId });
        if (isGone) return;
        setState(now);
        setFailure(null);
        if (now.completed_at) return onDone();
      } catch (error) {
        if (!isGone) setFailure(errorBodyOf(error).detail);
      }
      if (!isGone) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [bulkId, client, onDone]);
  if (failure) return <Notice tone="failed">{failure}</Notice>;
  if (!state?.completed_at)
    return (
      <div className="flex flex-wrap items-center gap-3 text-14 text-ink-soft">
        <p role="status" className="flex items-center gap-2">
          <Spinner />
          {state ? `${formatCount(state.done)} of ${formatCount(state.count)} done. It goes on when you leave this page.` : "Beginning…"}
        </p>
        <Button size="sm" onClick={() => void client.executions.stopBulk.mutate({ bulk_id: bulkId }).catch(tell)}>
          Stop
        </Button>
      </div>
    );
  return (
    <Notice
      tone={state.failed ? "failed" : "info"}
      actions={
        <Button size="sm" onClick={onClose}>
          Close
        </Button>
      }
    >
      {summaryOf(state)}
      {state.error && ` ${state.error}`}
    </Notice>
  );
}

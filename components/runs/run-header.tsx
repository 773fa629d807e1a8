"use client";

import { Columns2, ExternalLink, GitFork, Pencil, Square } from "lucide-react";
import { useState } from "react";
import { AskAboutRun } from "#components/runs/ask-about-run.tsx";
import { RunAgain } from "#components/runs/run-again.tsx";
import { RunSummary } from "#components/runs/run-summary.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { BackLink } from "#components/shell/back-link.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy.tsx";
import { CopyItem } from "#components/ui/copy-item.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { MoreMenu } from "#components/ui/more-menu.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ExecutionView } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// Loaded when somebody wants to compare.
const ChooseOtherDialog = loadedOnUse(() =>
  import("#components/runs/compare/choose-other-dialog.tsx").then((module) => module.ChooseOtherDialog),
);

/** Which run this is: workflow, version, what and who started it, how it stands, and the way to stop it. */
export function RunContextHeader({ initial }: { initial: ExecutionView }) {
  const { canEdit } = useStudio();
  const client = useTRPCClient();
  const isOver = useRun((state) => isFinal(state.snapshot?.status ?? initial.execution.status));
  const [isStopping, setIsStopping] = useState(false);
  const [isComparing, setIsComparing] = useState(false);
  const { id, workflow_id, workflow_name, version, trigger, started_by, created_at, rerun_of } = initial.execution;
  const inngest_run_url = useRun(({ view }) => (view ?? initial).execution.inngest_run_url);
  const cancel = async () => {
    setIsStopping(true);
    try {
      await client.executions.cancel.mutate({ execution_id: id });
    } catch (error) {
      if (errorBodyOf(error).error_code !== "CONFLICT") toast.error(errorBodyOf(error).detail);
      setIsStopping(false);
    }
  };
  return (
    <header className="grid shrink-0 grid-cols-[minmax(0,1fr)_auto] items-end gap-x-5 gap-y-1.5 border-b bg-surface px-8 pt-8 pb-2.5 max-md:px-4 max-lg:flex max-lg:flex-col max-lg:items-stretch">
      <div className="flex min-w-0 flex-col">
        <div className="-mt-7 h-7">
          <BackLink href="/runs">Runs</BackLink>
        </div>
        <h1 className="truncate font-semibold text-24">
          <span className="sr-only">Run of </span>
          {workflow_name}
        </h1>
      </div>
      <div className="col-span-2 row-start-2 flex flex-wrap items-center gap-x-5 gap-y-1">
        <RunSummary />
        <dl className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-ink-soft [&>div]:flex [&>div]:items-center [&>div]:gap-1.5 [&_dt]:sr-only">
          <div>
            <dt>Trigger</dt>
            <dd>
              <TriggerLabel kind={trigger} />
            </dd>
          </div>
          <div>
            <dt>Version</dt>
            <dd>{version === null ? (trigger === "fork" ? "Changed for this run" : "Draft") : `Version ${version}`}</dd>
          </div>
          {rerun_of !== null && (
            <div>
              <dt>{trigger === "fork" ? "Forked from" : "Run again from"}</dt>
              <dd className="flex items-center gap-2">
                <Link
                  href={`/runs/${rerun_of}`}
                  className="inline-flex min-h-6 items-center text-thread-text hover:underline pointer-coarse:-my-2.5 pointer-coarse:min-h-11"
                >
                  {trigger === "fork" ? "Fork" : "Rerun"} of …{rerun_of.slice(-6)}
                </Link>
                <Link
                  href={`/runs/${rerun_of}/compare/${id}`}
                  className="inline-flex min-h-6 items-center text-thread-text hover:underline pointer-coarse:-my-2.5 pointer-coarse:min-h-11"
                >
                  Compare both
                </Link>
              </dd>
            </div>
          )}
          <div>
            <dt>Started by</dt>
            <dd>{initial.origin ? <Origin {...initial.origin} /> : (started_by?.name ?? "Automatically")}</dd>
          </div>
          <div>
            <dt>When</dt>
            <dd>
              <Time value={created_at} />
            </dd>
          </div>
          <div>
            <dt>Run id</dt>
            <dd className="flex items-center gap-1 font-mono text-12">
              {id.slice(0, 8)}…
              <CopyButton value={id} what="run id" className="relative z-1 size-6 pointer-coarse:-my-2.5" />
            </dd>
          </div>
          {inngest_run_url !== null && (
            <div>
              <dt>Inngest run</dt>
              <dd>
                <a
                  href={inngest_run_url}
                  target="_blank"
                  rel="noreferrer"
                  className="inline-flex min-h-6 items-center gap-1 text-thread-text hover:underline pointer-coarse:-my-2.5 pointer-coarse:min-h-11"
                >
                  Inngest run
                  <ExternalLink aria-hidden className="size-3" />
                </a>
              </dd>
            </div>
          )}
        </dl>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <AskAboutRun size="md" />
        {isOver && canEdit && (
          <Button asChild icon={<GitFork />}>
            <Link href={`/runs/${id}/fork`}>Open on canvas</Link>
          </Button>
        )}
        <Button asChild icon={<Pencil />}>
          <Link href={`/workflows/${workflow_id}?run=${id}`}>Open in editor</Link>
        </Button>
        <RunAgain execution={initial.execution} />
        {!isOver && canEdit && (
          <Button variant="danger" icon={<Square />} isPending={isStopping} onClick={() => void cancel()}>
            Cancel run
          </Button>
        )}
        <MoreMenu>
          <MenuItem icon={<Columns2 />} onSelect={() => setIsComparing(true)}>
            Compare…
          </MenuItem>
          <CopyItem what="link" text={() => location.href} />
        </MoreMenu>
      </div>
      {isComparing && (
        <ChooseOtherDialog executionId={id} workflowId={workflow_id} originalId={rerun_of} onClose={() => setIsComparing(false)} />
      )}
    </header>
  );
}

/** The run that has started this one, and the node at which. */
function Origin({ execution_id, workflow_name, node }: NonNullable<ExecutionView["origin"]>) {
  const query = node ? `?node=${encodeURIComponent(node.id)}` : "";
  return (
    <>
      Started by{" "}
      <Link
        href={`/runs/${execution_id}${query}`}
        className="inline-flex min-h-6 max-w-80 items-center truncate text-thread-text hover:underline"
      >
        {workflow_name}
        {node && ` / ${node.label}`}
      </Link>
    </>
  );
}

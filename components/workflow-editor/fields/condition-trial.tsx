"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import { trialOf } from "#components/workflow-editor/fields/last-values.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { hasValuesBefore } from "#components/workflow-editor/fields/readable.ts";
import { isFinal } from "#server/runs/schema.ts";

const PAUSE_MS = 350;

/** True when a condition reads what came before its node, and not only the trigger or nodes by name. */
const readsOutput = (condition: string) => /(?<![\w.])output\b/.test(condition);

/** What a condition comes to on the last run's data, as the server's sandbox says. */
export function ConditionTrialChip({ condition }: { condition: string }) {
  const { readable, run } = usePanelReads();
  const trpc = useTRPC();
  const settled = useDebounced(condition, PAUSE_MS);
  const isOver = run !== null && isFinal(run.picture.status);
  const canTry = isOver && (hasValuesBefore(readable, run) || !readsOutput(settled));
  const trial = useQuery(
    trpc.checks.conditionTrial.queryOptions(
      { condition: settled, ...(run ? trialOf(readable, run) : { execution_id: "", before: [], outputs: {} }) },
      { enabled: canTry, placeholderData: keepPreviousData, staleTime: Number.POSITIVE_INFINITY, retry: false },
    ),
  );
  if (!run) return <p className="text-12 text-ink-faint">Run the workflow once to see here what the condition comes to.</p>;
  if (!isOver) return null;
  if (!canTry) return <p className="text-12 text-ink-faint">The last run did not come here, so there is nothing to try it on.</p>;
  if (trial.isError) return <p className="text-12 text-ink-faint">The service does not answer, so it cannot be tried now.</p>;
  if (!trial.data) return <p className="text-12 text-ink-faint">Trying it on the last run…</p>;
  const { holds, failure } = trial.data;
  return (
    <p role="status" aria-label="Trial" className="flex flex-wrap items-center gap-1.5 text-12 text-ink-soft">
      With last run <ArrowRight aria-hidden className="size-3.5 text-ink-faint" />
      {holds === null ? (
        <Badge tone="failed">Fails</Badge>
      ) : (
        <Badge tone={holds ? "complete" : "neutral"}>{holds ? "True" : "False"}</Badge>
      )}
      {failure !== null && " "}
      {failure !== null && <span className="w-full text-failed">{failure}</span>}
    </p>
  );
}

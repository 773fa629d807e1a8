"use client";

import { useState } from "react";
import { errorBodyOf } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { RunForm, type RunValues } from "#components/workflow-editor/fields/run-form.tsx";
import { textsOf } from "#components/workflow-editor/fields/run-values.ts";
import { RefusalNotice, type Reuse } from "#components/workflow-editor/fork/refusal-notice.tsx";
import { triggerOf } from "#components/workflow-editor/test-runs/trigger-needs.ts";
import type { Graph } from "#server/workflow/schema.ts";

interface RunInputDialogProps {
  title: string;
  description?: string;
  graph: Graph;
  /** What the run was given. */
  input: string;
  /** In place of "Start run". */
  submitLabel?: string;
  submit: (values: RunValues, reuse?: Reuse) => Promise<unknown>;
  onClose: () => void;
}

/** Asks what a run is to be given, beginning with what an earlier one was given. What was typed stays when it is refused. */
export function RunInputDialog({ title, description, graph, input, submitLabel, submit, onClose }: RunInputDialogProps) {
  const trigger = triggerOf(graph);
  const [isPending, setIsPending] = useState(false);
  const [refused, setRefused] = useState<{ values: RunValues; error: ReturnType<typeof errorBodyOf> } | null>(null);
  const run = async (values: RunValues, reuse?: Reuse) => {
    setIsPending(true);
    if (!reuse) setRefused(null);
    try {
      await submit(values, reuse);
    } catch (failure) {
      setRefused({ values, error: errorBodyOf(failure) });
      setIsPending(false);
    }
  };
  return (
    <Dialog title={title} {...(description !== undefined && { description })} onClose={onClose}>
      <RunForm
        trigger={trigger}
        last={textsOf(input, trigger)}
        isPending={isPending}
        onRun={(values) => void run(values)}
        {...(submitLabel !== undefined && { submitLabel })}
      />
      {refused && <RefusalNotice error={refused.error} isPending={isPending} onChoose={(reuse) => void run(refused.values, reuse)} />}
    </Dialog>
  );
}

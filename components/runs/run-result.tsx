"use client";

import { useRun, useRunShallow } from "#components/runs/store/run-context.tsx";
import { AddToCanvasButton } from "#components/shell/add-to-canvas.tsx";
import { useTRPCClient } from "#components/trpc.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import { hasNeverStarted, isFinal } from "#server/shared/execution-status.ts";
import { workOf } from "#server/workflow/disabled.ts";

/** Result of the run or the reason why it failed, in full. Without a result, the outputs reached so far; a run that never started shows its input. */
export function RunResult() {
  const { status, output, error, format } = useRunShallow(({ snapshot, view }) => ({
    status: snapshot?.status ?? "pending",
    output: snapshot?.output ?? null,
    error: snapshot?.error ?? null,
    format: view?.execution.outputs.length === 1 ? view.execution.outputs[0]?.format : undefined,
  }));
  const outputs = useReachedOutputs();
  const execution = useRun((state) => state.view?.execution);
  // Of several outputs the last is the result of the run.
  const label = execution?.outputs.length === 1 ? (execution.outputs[0]?.label ?? null) : null;
  const source = execution && { workflow_id: execution.workflow_id, output_label: label, name: label ?? execution.workflow_name };
  const isOver = isFinal(status);
  const hasResult = isOver && output !== null;
  const hasFailed = isOver && error !== null;
  const refused = execution && hasNeverStarted(execution) ? execution : undefined;
  const failure = refused ? "Why it never started" : "Why it failed";
  if (!hasResult && !hasFailed && outputs.length === 0) return null;
  return (
    <section aria-label="Result" className="flex max-h-[45%] shrink-0 flex-col border-b">
      <div className="flex items-center justify-between gap-3 px-3 pt-2.5 pb-1">
        <h2 className="font-semibold text-14">
          {hasFailed ? failure : hasResult ? "Result" : isOver ? "Outputs reached" : "Outputs so far"}
        </h2>
        {hasResult && !hasFailed && source && <AddToCanvasButton source={source} variant="ghost" />}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div tabIndex={0} className="flex min-h-0 flex-col gap-3 overflow-y-auto px-3 pb-3 focus-visible:outline-offset-[-2px]">
        {hasFailed && <p className="whitespace-pre-wrap break-words text-14 text-failed">{error}</p>}
        {refused && refused.input !== "" && (
          <div className="min-w-0">
            <h3 className="mb-1 font-semibold text-12 text-ink-soft">Input</h3>
            <ValueView value={refused.input} what="input" />
          </div>
        )}
        {hasResult && !hasFailed ? (
          <ValueView value={output} what="result" {...(format && { format })} />
        ) : (
          outputs.map((reached) => <ReachedOutput key={reached.node_id} reached={reached} />)
        )}
      </div>
    </section>
  );
}

type Reached = ExecutionOutput & {
  /** Characters of the whole when `value` is only its beginning. */
  whole_length: number | null;
};

/** Outputs in graph order: as the stream tells them, and those inside loops as they were when the run was read. */
function useReachedOutputs(): Reached[] {
  const view = useRun((state) => state.view);
  const nodes = useRun((state) => state.snapshot?.nodes);
  if (!view || !nodes) return [];
  const read = new Map(view.execution.outputs.map((output) => [output.node_id, output]));
  return view.graph.nodes.flatMap((node) => {
    const told = nodes[node.id];
    const kept = read.get(node.id);
    if (kept) return [{ ...kept, whole_length: null }];
    if (workOf(node)?.group !== "output" || told?.status !== "complete" || told.iteration !== "" || told.output === null) return [];
    const { label, format } = node.data;
    const common = { node_id: node.id, label: String(label ?? "Output"), format: String(format ?? "passthrough") };
    return [{ ...common, value: told.output, whole_length: told.whole_length }];
  });
}

function ReachedOutput({ reached: { node_id, label, format, value, whole_length } }: { reached: Reached }) {
  const client = useTRPCClient();
  const execution_id = useRun((state) => state.executionId) ?? "";
  const load = async () => (await client.executions.nodeOutput.query({ execution_id, node_id })).output ?? "";
  return (
    <div className="min-w-0">
      <h3 className="mb-1 font-semibold text-12 text-ink-soft">{label}</h3>
      <ValueView value={value} what={label} format={format} whole={whole_length === null ? null : { length: whole_length, load }} />
    </div>
  );
}

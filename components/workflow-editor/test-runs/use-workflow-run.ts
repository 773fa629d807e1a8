"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { plural } from "#components/format.ts";
import { useRun, useRunStore } from "#components/runs/store/run-context.tsx";
import type { RunStore } from "#components/runs/store/run-store.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import type { RunValues } from "#components/workflow-editor/fields/run-form.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { pinRun } from "#components/workflow-editor/test-runs/pinning.ts";
import { needsInput } from "#components/workflow-editor/test-runs/trigger-needs.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/** The address says which run is on the screen, so a reload brings it back. */
function putInAddress(executionId: string | null): void {
  const url = new URL(location.href);
  if (executionId) url.searchParams.set("run", executionId);
  else url.searchParams.delete("run");
  // It is about the run that was there.
  url.searchParams.delete("debug");
  history.replaceState(history.state, "", url);
}

/** What of the workflow a run is for; left out, all of it. */
interface RunPart {
  /** Only this node and what it needs. */
  until?: string;
  /** This node and what depends on it, with results of an earlier run before it; with `until`, it alone. */
  from?: { execution_id: string; node_id: string };
}

/** Asked for by "Debug in editor": the outputs of the run that is opened are pinned. */
function takeDebugMark(): boolean {
  const url = new URL(location.href);
  if (!url.searchParams.has("debug")) return false;
  url.searchParams.delete("debug");
  history.replaceState(history.state, "", url);
  return true;
}

/** Pins what the nodes left behind in the run on the screen, and says so. */
export function pinAndTell(editor: EditorStore, run: RunStore): void {
  const { snapshot } = run.getState();
  if (!snapshot) return;
  const { count, tooLarge } = pinRun(editor, snapshot);
  const left = tooLarge.length ? `Too large to pin: ${tooLarge.join(", ")}.` : undefined;
  if (count === 0) toast.info("This run has no outputs to pin.", left ? { description: left } : {});
  else
    toast.success(
      `${plural(count, "output")} pinned. Runs from here take them instead of running those nodes.`,
      left ? { description: left } : {},
    );
}

/** Starting, stopping and following the runs of the workflow that is open. */
export function useWorkflowRun(workflowId: string) {
  const { trpc, client, cache } = useApi();
  const session = useSession();
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const run = useRunStore();
  const [isStarting, setIsStarting] = useState(false);
  const [isStopping, setIsStopping] = useState(false);
  /** What the run is for that the form asks input for; null while it is closed. */
  const [asking, setAsking] = useState<RunPart | null>(null);
  /** The run on the screen was not started here but opened. */
  const [isPast, setIsPast] = useState(false);
  const isBusy = useRef(false);
  /** Counts the runs that were asked for: only the last one comes on the screen, however late an answer is. */
  const turn = useRef(0);
  const isRunning = useRun((state) => state.snapshot !== null && !isFinal(state.snapshot.status));

  const read = useCallback(
    async (executionId: string) => {
      const mine = ++turn.current;
      const view = await client.executions.view.query({ execution_id: executionId });
      return mine === turn.current ? view : null;
    },
    [client],
  );
  const show = useCallback(
    async (executionId: string) => {
      const view = await read(executionId);
      if (!view) return null;
      run.getState().show(view);
      putInAddress(executionId);
      return view;
    },
    [read, run],
  );

  // What was on the screen before a reload, else what runs right now.
  useEffect(() => {
    let isGone = false;
    // Of the look that this is about to take.
    const mine = turn.current + 1;
    const open = async () => {
      const wanted = new URLSearchParams(location.search).get("run");
      if (wanted) {
        const view = await read(wanted);
        if (isGone || view?.execution.workflow_id !== workflowId) return;
        run.getState().show(view);
        setIsPast(true);
        if (takeDebugMark() && !editor.getState().isReadOnly) pinAndTell(editor, run);
        return;
      }
      const before = turn.current;
      const [latest] = await client.workflows.executions.query({ workflow_id: workflowId, limit: 1 });
      if (!isGone && before === turn.current && latest && !isFinal(latest.status)) await show(latest.id);
    };
    // A run that is gone (kept too long, or of another project) is no reason to disturb.
    open().catch(() => {
      if (!isGone && turn.current === mine) putInAddress(null);
    });
    return () => {
      isGone = true;
    };
  }, [workflowId, client, run, editor, read, show]);

  useEffect(() => {
    if (!isRunning) setIsStopping(false);
  }, [isRunning]);

  const start = async (values: RunValues, { until, from }: RunPart = {}): Promise<boolean> => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setIsStarting(true);
    try {
      if (!(await session.flush())) {
        toast.error("The latest changes are not on the server yet, so nothing was started. See the message beside the workflow's name.");
        return false;
      }
      const { execution_id } = await client.workflows.executeDraft.mutate({
        workflow_id: workflowId,
        ...values,
        ...(until !== undefined && { until_node_id: until }),
        ...(from && { from }),
      });
      setIsPast(false);
      editor.getState().say("Run started");
      const shown = await show(execution_id);
      // One that was over before anybody could follow it.
      if (shown && isFinal(shown.execution.status)) editor.getState().say(`Run ${shown.execution.status}`);
      void cache.invalidateQueries(trpc.executions.pathFilter());
      return true;
    } catch (error) {
      const { detail, errors } = errorBodyOf(error);
      toast.error(detail, errors && errors.length > 1 ? { description: errors.map(({ message }) => message).join(" ") } : {});
      return false;
    } finally {
      isBusy.current = false;
      setIsStarting(false);
    }
  };
  const stop = async () => {
    const { executionId } = run.getState();
    if (!executionId || isStopping) return;
    setIsStopping(true);
    try {
      await client.executions.cancel.mutate({ execution_id: executionId });
      editor.getState().say("Run stopped");
    } catch (error) {
      setIsStopping(false);
      // It may have ended by itself in between; then there is nothing to stop.
      if (errorBodyOf(error).error_code !== "CONFLICT") toast.error(errorBodyOf(error).detail);
      if (run.getState().executionId === executionId) await show(executionId).catch(() => {});
    }
  };
  const explain = () => {
    const first = ui.getState().problems[0];
    if (!first) return;
    toast.error(first.message);
    if (!first.node_id) return;
    editor.getState().selectOnly(first.node_id);
    ui.getState().goTo(first.node_id, first.field);
  };
  /** Starts a run, after the form when the trigger needs something. */
  const ask = (part: RunPart = {}) => {
    if (needsInput(editor.getState().graph())) setAsking(part);
    else void start({}, part);
  };
  const open = async (executionId: string) => {
    try {
      if (await show(executionId)) setIsPast(true);
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    }
  };
  return { isRunning, isStarting, isStopping, isPast, asking, closeForm: () => setAsking(null), ask, start, stop, explain, open };
}

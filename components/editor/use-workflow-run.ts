"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { toast } from "sonner";
import { useCanvasUiStore, useEditorStore } from "#components/canvas/canvas-context.tsx";
import type { RunValues } from "#components/editor/run-form.tsx";
import { useSession } from "#components/editor/session-context.tsx";
import { useRun, useRunStore } from "#components/runs/run-context.tsx";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { isFinal } from "#server/schemas/execution.ts";

/** The address says which run is on the screen, so a reload brings it back. */
function putInAddress(executionId: string | null): void {
  const url = new URL(location.href);
  if (executionId) url.searchParams.set("run", executionId);
  else url.searchParams.delete("run");
  history.replaceState(history.state, "", url);
}

/** Starting, stopping and following the runs of the workflow that is open. */
export function useWorkflowRun(workflowId: string) {
  const client = useTRPCClient();
  const trpc = useTRPC();
  const cache = useQueryClient();
  const session = useSession();
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const run = useRunStore();
  const [isStarting, setIsStarting] = useState(false);
  const [isStopping, setIsStopping] = useState(false);
  const isBusy = useRef(false);
  const isRunning = useRun((state) => state.picture !== null && !isFinal(state.picture.status));

  const show = useCallback(
    async (executionId: string) => {
      run.getState().show(await client.executions.view.query({ execution_id: executionId }));
      putInAddress(executionId);
    },
    [client, run],
  );

  // What was on the screen before a reload, else what runs right now.
  useEffect(() => {
    let isGone = false;
    const open = async () => {
      const wanted = new URLSearchParams(location.search).get("run");
      if (wanted) {
        const view = await client.executions.view.query({ execution_id: wanted });
        if (!isGone && view.execution.workflow_id === workflowId) run.getState().show(view);
        return;
      }
      const [latest] = await client.workflows.executions.query({ workflow_id: workflowId, limit: 1 });
      if (!isGone && latest && !isFinal(latest.status)) await show(latest.id);
    };
    // A run that is gone (kept too long, or of another project) is no reason to disturb.
    open().catch(() => putInAddress(null));
    return () => {
      isGone = true;
    };
  }, [workflowId, client, run, show]);

  useEffect(() => {
    if (!isRunning) setIsStopping(false);
  }, [isRunning]);

  const start = async (values: RunValues): Promise<boolean> => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setIsStarting(true);
    try {
      if (!(await session.flush())) {
        toast.error("The latest changes are not on the server yet, so nothing was started. See the message beside the workflow's name.");
        return false;
      }
      const { execution_id } = await client.workflows.executeDraft.mutate({ workflow_id: workflowId, ...values });
      editor.getState().say("Run started");
      await show(execution_id);
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
      await show(executionId).catch(() => {});
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
  return { isRunning, isStarting, isStopping, start, stop, explain };
}

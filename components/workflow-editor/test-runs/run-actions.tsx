"use client";

import { ArrowRightToLine, Pin, PinOff, Sparkles, StepForward } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { type EditorRun, useRunStore } from "#components/runs/store/run-context.tsx";
import { useAssistant } from "#components/shell/assistant.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { NodeAction, NodeActionSource } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { pinnedIn, pinOutput, unpin, validatePin } from "#components/workflow-editor/test-runs/pinning.ts";
import { pinAndTell, type useWorkflowRun } from "#components/workflow-editor/test-runs/use-workflow-run.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf } from "#server/workflow/graph.ts";

/**
 * What can be done to a node that has to do with runs, and with the assistant: for the menus of the canvas, and for the values of a run.
 * @param onOpen called when a run is to be shown on the canvas
 */
export function useRunActions(run: ReturnType<typeof useWorkflowRun>, isReadOnly: boolean, onOpen: () => void): EditorRun {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const store = useRunStore();
  const session = useSession();
  const { open: ask } = useAssistant();
  const latest = useRef({ run, onOpen });
  latest.current = { run, onOpen };
  const isBusy = run.isRunning || run.isStarting;

  const editorRun = useMemo<EditorRun>(() => {
    const tell = (refusal: string | null) => {
      if (refusal) toast.error(refusal);
    };
    return {
      isReadOnly,
      isBusy,
      runFrom: (nodeId, executionId) => void latest.current.run.start({}, { from: { execution_id: executionId, node_id: nodeId } }),
      tryNode(nodeId, executionId) {
        const { run } = latest.current;
        if (executionId === null) run.ask({ until: nodeId });
        else void run.start({}, { until: nodeId, from: { execution_id: executionId, node_id: nodeId } });
      },
      pin: (nodeId, output) => tell(pinOutput(editor, nodeId, output)),
      unpin: (nodeId) => unpin(editor, [nodeId]),
      pinAll: () => pinAndTell(editor, store),
      open(executionId) {
        void latest.current.run.open(executionId);
        latest.current.onOpen();
      },
    };
  }, [editor, store, isReadOnly, isBusy]);

  useEffect(() => {
    const source: NodeActionSource = (nodeIds) => {
      const [id] = nodeIds;
      const state = editor.getState();
      const type = state.nodes.find((node) => node.id === id)?.type ?? "";
      const definition = definitionOf(type);
      if (nodeIds.length !== 1 || id === undefined || !definition || definition.isInert) return [];
      const context = {
        workflow: { id: session.workflowId, name: session.store.getState().name },
        node: { id, name: labelOf(state.data[id], type) },
      };
      const about: NodeAction = { id: "ask", label: "Ask about this node", icon: <Sparkles />, group: 45, run: () => ask({ context }) };
      if (isReadOnly) return [about];
      const { executionId, snapshot } = store.getState();
      const busy = isBusy ? "A run goes on. Stop it, or wait for its end." : null;
      const ended = snapshot && isFinal(snapshot.status) ? executionId : null;
      const noRun = busy ?? (ended === null ? "Run the workflow first: what comes before is taken from that run." : null);
      const actions = [about];
      // From the trigger on, that is the whole workflow; until it, nothing.
      if (definition.group !== "trigger")
        actions.push(
          {
            ...{ id: "run-from", label: "Run from here", icon: <StepForward />, group: 10, isInToolbar: true },
            ...(noRun !== null && { refusal: noRun }),
            run: () => ended !== null && editorRun.runFrom(id, ended),
          },
          {
            ...{ id: "run-until", label: "Run until here", icon: <ArrowRightToLine />, group: 10, isInToolbar: true },
            ...(busy !== null && { refusal: busy }),
            run: () => latest.current.run.ask({ until: id }),
          },
        );
      if (!definition.pin) return actions;
      if (pinnedIn(state.data[id]) !== null) {
        const run = () => editorRun.unpin(id);
        return [...actions, { id: "unpin", label: "Unpin output", icon: <PinOff />, group: 10, isInToolbar: true, run }];
      }
      const node = snapshot?.nodes[id];
      const output = node?.status === "complete" && node.whole_length === null ? node.output : null;
      const refusal = output === null ? "There is no output of it on the screen to pin." : validatePin(state, id, output);
      actions.push({
        ...{ id: "pin", label: "Pin output", icon: <Pin />, group: 10, isInToolbar: true },
        ...(refusal !== null && { refusal }),
        run: () => output !== null && editorRun.pin(id, output),
      });
      return actions;
    };
    ui.setState({ moreActions: source });
    return () => ui.setState({ moreActions: null });
  }, [editor, ui, store, session, ask, isReadOnly, isBusy, editorRun]);

  return editorRun;
}

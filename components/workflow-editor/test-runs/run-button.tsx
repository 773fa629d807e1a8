"use client";

import { useQuery } from "@tanstack/react-query";
import { Play, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { plural } from "#components/format.ts";
import { useRun } from "#components/runs/store/run-context.tsx";
import { useCommands } from "#components/shell/commands.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import {
  useCanvasUi,
  useCanvasUiStore,
  useEditorShallow,
  useEditorStore,
} from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { CanvasUiState } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { RunValues } from "#components/workflow-editor/fields/run-form.tsx";
import { inputToRepeat, textsOf } from "#components/workflow-editor/fields/run-values.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { nodesNotRun } from "#components/workflow-editor/test-runs/pinning.ts";
import { triggerOf } from "#components/workflow-editor/test-runs/trigger-needs.ts";
import type { useWorkflowRun } from "#components/workflow-editor/test-runs/use-workflow-run.ts";

// Loaded for the first run that asks for input.
const RunForm = loadedOnUse(() => import("#components/workflow-editor/fields/run-form.tsx").then((module) => module.RunForm));

/** What the webhook gave at the call that was listened for; null when there is none, undefined while it is asked for. */
function useHeardInput(isAsked: boolean): string | null | undefined {
  const { workflowId } = useSession();
  const trpc = useTRPC();
  const editor = useEditorStore();
  const isWebhook = isAsked && triggerOf(editor.getState().graph()).kind === "webhook";
  const state = useQuery(trpc.webhooks.state.queryOptions({ workflow_id: workflowId }, { enabled: isWebhook, retry: false }));
  if (!isWebhook || state.isError) return null;
  return state.data && (state.data.heard?.input ?? null);
}

export interface RunButtonProps {
  run: ReturnType<typeof useWorkflowRun>;
  isReadOnly: boolean;
}

/** Run ⇄ Stop, of one width. Asks for what the trigger needs first; says why when a run cannot start. */
export function RunButton({ run, isReadOnly }: RunButtonProps) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const idle = useEditorShallow(nodesNotRun);
  // What stands in for a node's work needs nothing filled in.
  const countProblems = (state: CanvasUiState) =>
    state.problems.filter(({ node_id }) => node_id === null || !idle.includes(node_id)).length;
  const problems = useCanvasUi(countProblems);
  const shown = useRun((state) => (state.view ? inputToRepeat(state.view) : null));
  const [last, setLast] = useState<Record<string, string>>({});
  const heard = useHeardInput(run.asking !== null);

  const press = async () => {
    if (isReadOnly || run.isStarting) return;
    if (run.isRunning) return run.stop();
    editor.getState().settle();
    if (countProblems(ui.getState()) > 0) await ui.getState().checkNow();
    if (countProblems(ui.getState()) > 0) return run.explain();
    run.ask();
  };
  const begin = async (values: RunValues, texts: Record<string, string>) => {
    setLast(texts);
    if (await run.start(values, run.asking ?? {})) run.closeForm();
  };

  const { isRunning } = run;
  useCommands([
    !isReadOnly && {
      label: isRunning ? "Stop this run" : "Run this workflow",
      icon: isRunning ? Square : Play,
      shortcut: [MOD, "Enter"],
      run: press,
    },
  ]);

  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest("[role=dialog], [role=alertdialog]")) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  const reason = isReadOnly
    ? "You may look, not run. Ask an admin of the project for the editor role."
    : problems > 0 && !run.isRunning
      ? `${plural(problems, "problem")} to fix before it can run; press to see the first`
      : run.isRunning
        ? "Stop this run"
        : "Run the workflow as it is on the canvas";
  const isFocused = useRef(false);
  /** The focus goes along when one of the two buttons takes the other's place. */
  const keepFocus = (button: HTMLButtonElement | null) => {
    if (isFocused.current) button?.focus();
    return () => {
      isFocused.current = button === document.activeElement;
    };
  };
  const until = run.asking?.until;
  const title = until === undefined ? "Run workflow" : `Run until “${labelOf(editor.getState().data[until])}”`;
  const isOff = isReadOnly || (problems > 0 && !run.isRunning);
  return (
    <>
      <Tooltip content={reason} shortcut={[MOD, "Enter"]} side="bottom">
        <Button
          // Two buttons, since a press that began on Run, while a run that somebody started came on the screen, must not stop it.
          key={run.isRunning ? "stop" : "run"}
          ref={keepFocus}
          variant={run.isRunning ? "danger" : "primary"}
          icon={run.isRunning ? <Square /> : <Play />}
          isPending={run.isStarting || run.isStopping}
          aria-disabled={isOff || undefined}
          aria-keyshortcuts="Control+Enter Meta+Enter"
          className="w-19 aria-disabled:cursor-not-allowed aria-disabled:opacity-55"
          onClick={press}
        >
          {run.isRunning ? "Stop" : "Run"}
        </Button>
      </Tooltip>
      {run.asking !== null && heard !== undefined && (
        <Dialog onClose={run.closeForm} title={title} size="sm">
          <RunForm
            trigger={triggerOf(editor.getState().graph())}
            last={{
              ...(shown !== null && textsOf(shown, triggerOf(editor.getState().graph()))),
              ...(heard !== null && { input: heard }),
              ...last,
            }}
            isPending={run.isStarting}
            onRun={(values, texts) => void begin(values, texts)}
          />
        </Dialog>
      )}
    </>
  );
}

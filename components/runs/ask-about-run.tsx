"use client";

import { Sparkles, Wrench } from "lucide-react";
import { useRunShallow } from "#components/runs/store/run-context.tsx";
import { type AssistantPlace, useAssistant } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { isFinal } from "#server/shared/execution-status.ts";
import { labelOf } from "#server/workflow/graph.ts";

export interface AskAboutRunProps {
  /** One of its nodes; left out, the whole run. */
  nodeId?: string;
  size?: "sm" | "md";
  /** False where another button explains already: it is left to repair. */
  hasExplain?: boolean;
  className?: string;
}

/** Lets the assistant explain the run on the screen, and repair one that failed. */
export function AskAboutRun({ nodeId, size = "sm", hasExplain = true, className }: AskAboutRunProps) {
  const { open } = useAssistant();
  const { canEdit } = useStudio();
  const { execution, label, hasFailed } = useRunShallow(({ view, snapshot }) => {
    const node = view?.graph.nodes.find(({ id }) => id === nodeId);
    const status = nodeId === undefined ? snapshot?.status : snapshot?.nodes[nodeId]?.status;
    return {
      execution: view?.execution,
      label: node && labelOf(node),
      hasFailed: snapshot !== null && isFinal(snapshot.status) && status === "failed",
    };
  });
  if (!execution) return null;
  const context: AssistantPlace = {
    workflow: { id: execution.workflow_id, name: execution.workflow_name },
    execution: { id: execution.id, name: execution.workflow_name, hasFailed },
    ...(nodeId !== undefined && { node: { id: nodeId, name: label ?? nodeId } }),
  };
  const what = label === undefined ? "this run" : `what “${label}” did in this run`;
  const explain = hasFailed ? `Explain why ${label === undefined ? "this run" : `“${label}”`} failed.` : `Explain ${what}.`;
  const repair = "Repair this run: find out why it failed, propose a change, and prove it by running again from the node that failed.";
  return (
    <>
      {hasExplain && (
        <Button
          size={size}
          variant="ghost"
          icon={<Sparkles />}
          {...(label !== undefined && { "aria-label": `Explain ${label}` })}
          {...(className && { className })}
          onClick={() => open({ context, prompt: explain, mode: "ask" })}
        >
          Explain
        </Button>
      )}
      {hasFailed && nodeId === undefined && canEdit && (
        <Button
          size={size}
          variant="ghost"
          icon={<Wrench />}
          {...(className && { className })}
          onClick={() => open({ context, prompt: repair, mode: "build" })}
        >
          Repair
        </Button>
      )}
    </>
  );
}

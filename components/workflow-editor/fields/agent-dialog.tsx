"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import type { AgentSuggestion } from "#components/agents/agent-form-schema.ts";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { Agent } from "#server/features/agents/schema.ts";

// Loaded with the first dialog: most visits of the editor need none.
const AgentEditor = dynamic(() => import("#components/agents/agent-form.tsx").then((module) => module.AgentEditor), {
  loading: () => <Skeleton className="h-96 w-full" />,
});

export interface AgentDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The agent to change; left out, a new one is made. */
  agent?: Agent | undefined;
  /** What a new agent begins with. */
  suggestion?: AgentSuggestion;
  /** Called with what was saved, once the dialog is closed. */
  onSaved?: (agent: Agent) => void;
}

/** The form of an agent in front of the editor, which goes on behind it. What was typed is not lost by a slip. */
export function AgentDialog({ open, onOpenChange, agent, suggestion, onSaved }: AgentDialogProps) {
  const [isDirty, setIsDirty] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const close = () => {
    setIsDirty(false);
    onOpenChange(false);
  };
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={(next) => (next || !isDirty ? onOpenChange(next) : setIsAsking(true))}
        title={agent ? `Agent ${agent.name}` : "New agent"}
        size="lg"
      >
        {open && (
          // The form's foot stays in view: on this ground, at the very bottom.
          <div className="[--foot:-1rem] [--ground:var(--raised)]">
            <AgentEditor
              {...(agent && { agent })}
              {...(suggestion && { suggestion })}
              onDirtyChange={setIsDirty}
              onSaved={(saved) => {
                close();
                onSaved?.(saved);
              }}
            />
          </div>
        )}
      </Dialog>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title="Close without saving?"
        confirmLabel="Close"
        cancelLabel="Keep editing"
        onConfirm={async () => close()}
      >
        What you filled in for this agent has not been saved.
      </ConfirmDialog>
    </>
  );
}

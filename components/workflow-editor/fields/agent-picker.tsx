"use client";

import { ArrowUpRight, PencilLine, Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { AgentSuggestion } from "#components/agents/agent-values.ts";
import { cn } from "#components/ui/cn.ts";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { thumbRoom } from "#components/ui/styles.ts";
import { toast } from "#components/ui/toaster.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import type { Agent } from "#server/features/agents/schema.ts";

export interface AgentPickerProps {
  value: string;
  isReadOnly: boolean;
  onChange: (id: string) => void;
}

/** One of the project's agents, with the way to change it and to make another without leaving the workflow. */
export function AgentPicker({ value, isReadOnly, onChange }: AgentPickerProps) {
  const { agents, isPending } = useAgentNames();
  const [dialog, setDialog] = useState<"new" | "edit" | null>(null);
  const chosen = agents.find((agent) => agent.id === value);
  const link = cn("inline-flex h-6 items-center gap-1 rounded-sm text-12 text-thread-text hover:underline", thumbRoom);
  return (
    <div className="flex flex-col gap-1">
      <Select
        value={chosen ? value : ""}
        disabled={isReadOnly || isPending || agents.length === 0}
        placeholder={
          isPending ? "Loading agents…" : agents.length === 0 ? "No agents yet" : value ? "An agent that is gone" : "Choose an agent"
        }
        options={agents.map((agent) => ({ value: agent.id, label: agent.name, description: agent.model }))}
        onValueChange={onChange}
      />
      <span className="flex flex-wrap gap-x-4">
        {!isReadOnly && (
          <button type="button" className={link} onClick={() => setDialog("new")}>
            <Plus aria-hidden className="size-3" />
            Create agent…
          </button>
        )}
        {chosen && !isReadOnly && (
          <button type="button" className={link} onClick={() => setDialog("edit")}>
            <PencilLine aria-hidden className="size-3" />
            Edit agent…
          </button>
        )}
        {chosen && (
          <Link href={`/agents/${value}`} className={link}>
            Open its page
            <ArrowUpRight aria-hidden className="size-3" />
          </Link>
        )}
      </span>
      {!isReadOnly && dialog && (
        <AgentDialog onClose={() => setDialog(null)} agent={dialog === "edit" ? chosen : undefined} onSaved={({ id }) => onChange(id)} />
      )}
    </div>
  );
}

// Loaded with the first dialog: most visits of the editor need none.
const AgentEditor = loadedOnUse(
  () => import("#components/agents/agent-form.tsx").then((module) => module.AgentEditor),
  () => <Skeleton className="h-96 w-full" />,
);

export interface AgentDialogProps {
  onClose: () => void;
  /** The agent to change; left out, a new one is made. */
  agent?: Agent | undefined;
  /** What a new agent begins with. */
  suggestion?: AgentSuggestion;
  /** Called with what was saved, once the dialog is closed. */
  onSaved?: (agent: Agent) => void;
}

/** The form of an agent in front of the editor, which goes on behind it. What was typed is a draft that closing does not lose. */
export function AgentDialog({ onClose, agent, suggestion, onSaved }: AgentDialogProps) {
  // Not a state, which is drawn later: Escape may come right behind a letter.
  const draft = useRef({ isDirty: false, isKept: true });
  const [isAsking, setIsAsking] = useState(false);
  const close = () => {
    const { isDirty, isKept } = draft.current;
    if (isDirty && !isKept) return setIsAsking(true);
    onClose();
    if (!isDirty) return;
    const description = agent ? "Runs ask the published version until you publish it." : "It is there again with the next new agent.";
    toast.message("Kept as a draft", { description });
  };
  return (
    <>
      <Dialog onClose={close} title={agent ? `Agent ${agent.name}` : "New agent"} size="lg">
        {/* The form's foot stays in view: on this ground, at the very bottom. */}
        <div className="[--foot:-1rem] [--ground:var(--raised)]">
          <AgentEditor
            {...(agent && { agent })}
            {...(suggestion && { suggestion })}
            draftRef={draft}
            onSaved={(saved) => {
              onClose();
              onSaved?.(saved);
            }}
          />
        </div>
      </Dialog>
      {isAsking && (
        <ConfirmDialog
          onClose={() => setIsAsking(false)}
          title="Close without saving?"
          confirmLabel="Close"
          cancelLabel="Keep editing"
          onConfirm={async () => onClose()}
        >
          What you filled in for this agent has not been saved.
        </ConfirmDialog>
      )}
    </>
  );
}

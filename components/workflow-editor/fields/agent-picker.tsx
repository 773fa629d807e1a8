"use client";

import { ArrowUpRight, PencilLine, Plus } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { Select } from "#components/ui/select.tsx";
import { AgentDialog } from "#components/workflow-editor/fields/agent-dialog.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/agent-names.tsx";

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
  const link = "inline-flex h-6 items-center gap-1 rounded-sm text-12 text-thread-text hover:underline";
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
      {!isReadOnly && (
        <AgentDialog
          key={dialog === "edit" ? value : "new"}
          open={dialog !== null}
          onOpenChange={(isOpen) => !isOpen && setDialog(null)}
          agent={dialog === "edit" ? chosen : undefined}
          onSaved={({ id }) => onChange(id)}
        />
      )}
    </div>
  );
}

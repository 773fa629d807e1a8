"use client";

import { ArrowUpRight, Plus } from "lucide-react";
import Link from "next/link";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { Select } from "#components/ui/select.tsx";

export interface AgentPickerProps {
  value: string;
  isReadOnly: boolean;
  onChange: (id: string) => void;
}

/** One of the project's agents, with the way to change it and to make another. */
export function AgentPicker({ value, isReadOnly, onChange }: AgentPickerProps) {
  const { agents, isPending } = useAgentNames();
  const isKnown = agents.some((agent) => agent.id === value);
  const link = "inline-flex h-6 items-center gap-1 rounded-sm text-12 text-thread-text hover:underline";
  return (
    <div className="flex flex-col gap-1">
      <Select
        value={isKnown ? value : ""}
        disabled={isReadOnly || isPending || agents.length === 0}
        placeholder={
          isPending ? "Loading agents…" : agents.length === 0 ? "No agents yet" : value ? "An agent that is gone" : "Choose an agent"
        }
        options={agents.map((agent) => ({ value: agent.id, label: agent.name, description: agent.model }))}
        onValueChange={onChange}
      />
      <span className="flex gap-4">
        {isKnown && (
          <Link href={`/agents/${value}`} className={link}>
            Open this agent
            <ArrowUpRight aria-hidden className="size-3" />
          </Link>
        )}
        {!isReadOnly && (
          <Link href="/agents/new" target="_blank" className={link}>
            <Plus aria-hidden className="size-3" />
            New agent<span className="sr-only"> (opens a new tab)</span>
          </Link>
        )}
      </span>
    </div>
  );
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useTRPC } from "#components/trpc.tsx";
import type { NodeLookups } from "#components/workflow-editor/nodes/types.ts";
import type { Agent } from "#server/features/agents/schema.ts";

interface Agents extends NodeLookups {
  agents: readonly Agent[];
  isPending: boolean;
}

const AgentsContext = createContext<Agents>({ agents: [], isPending: true, agentName: () => null });

/** Reads the project's agents once for every card and picker below. */
export function AgentNamesProvider({ children }: { children: ReactNode }) {
  const trpc = useTRPC();
  // Fresh whenever the tab comes back: agents are made on another page, often in another tab.
  const { data, isPending } = useQuery(trpc.agents.list.queryOptions({ per_page: 200 }, { refetchOnWindowFocus: "always" }));
  const value = useMemo<Agents>(() => {
    const names = new Map(data?.items.map((agent) => [agent.id, agent.name]));
    return { agents: data?.items ?? [], isPending, agentName: (id) => names.get(id) ?? (isPending ? null : undefined) };
  }, [data, isPending]);
  return <AgentsContext value={value}>{children}</AgentsContext>;
}

export const useAgentNames = (): Agents => useContext(AgentsContext);

"use client";

import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { z } from "zod";
import { useTRPC } from "#components/trpc.tsx";
import type { NodeLookups } from "#components/workflow-editor/nodes/types.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import type { CredentialPage } from "#server/features/credentials/schema.ts";

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

const FRESH_MS = 60_000;

/** All of them, or nothing when there are more than one page holds: then only the server can tell what is missing. */
const namesOf = ({ items, total }: z.infer<typeof CredentialPage>): string[] | undefined =>
  items.length < total ? undefined : items.map(({ name }) => name).sort();

/** Names of the project's credentials; undefined while they are not known. */
export function useCredentialNames(): readonly string[] | undefined {
  const trpc = useTRPC();
  const options = { select: namesOf, staleTime: FRESH_MS, refetchOnWindowFocus: "always" } as const;
  return useQuery(trpc.credentials.list.queryOptions({ per_page: 200 }, options)).data;
}

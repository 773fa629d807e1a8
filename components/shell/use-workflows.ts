"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "#components/trpc.tsx";

const FRESH_MS = 60_000;

/** The latest 200 workflows of the project; undefined while they are not known. */
export function useWorkflows(isWanted = true) {
  const options = { staleTime: FRESH_MS, refetchOnWindowFocus: "always", enabled: isWanted } as const;
  return useQuery(useTRPC().workflows.list.queryOptions({ per_page: 200 }, options)).data;
}

/** Names of those workflows by id, where they are wanted. */
export function useWorkflowNames(isWanted: boolean): (id: string) => string | undefined {
  const known = useWorkflows(isWanted);
  return (id) => known?.items.find((workflow) => workflow.id === id)?.name;
}

/** Name of a workflow of the project; undefined when there is none with this id, null while that is not known. */
export function useWorkflowName(id: string | null): string | null | undefined {
  const trpc = useTRPC();
  const known = useWorkflows();
  const listed = known?.items.find((workflow) => workflow.id === id);
  const isUnlisted = id !== null && known !== undefined && !listed && known.items.length < known.total;
  const own = useQuery(
    trpc.workflows.get.queryOptions({ workflow_id: id ?? "" }, { enabled: isUnlisted, select: ({ name }) => name, retry: false }),
  );
  if (listed) return listed.name;
  return known === undefined || (isUnlisted && own.isPending) ? null : own.data;
}

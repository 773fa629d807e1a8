"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { useTRPC } from "#components/trpc.tsx";

/** What the log keeps of a node's newest attempt at one place in the loops; read again when the node moves on there. */
export function useNodeLog(nodeId: string, iteration: string, isWanted: boolean) {
  const trpc = useTRPC();
  const executionId = useRun((state) => state.executionId) ?? "";
  const { data, error, isPending, refetch } = useQuery(
    trpc.executions.logs.queryOptions(
      { execution_id: executionId, node_id: nodeId, iteration },
      { enabled: isWanted && executionId !== "" },
    ),
  );
  const stage = useRun(({ picture }) => {
    const node = picture?.nodes[nodeId];
    const isHere = node?.iteration === iteration;
    return `${picture?.status} ${isHere ? `${node?.attempt} ${node?.status}` : ""}`;
  });
  const seen = useRef(stage);
  useEffect(() => {
    if (seen.current === stage) return;
    seen.current = stage;
    if (isWanted) void refetch();
  }, [stage, isWanted, refetch]);
  return { item: data?.items.at(-1), error, isPending, refetch };
}

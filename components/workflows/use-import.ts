"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { toast } from "sonner";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import type { ImportCheck, ImportLinks } from "#server/features/workflow-files/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import type { Graph } from "#server/workflow/schema.ts";

type File = Record<string, unknown>;

/** A file that was checked, and what it needs. */
export interface CheckedFile {
  file: File;
  check: ImportCheck;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Puts the nodes of a file into the workflow that is open; says how many. */
export type InsertGraph = (graph: Graph) => number;

/**
 * The two calls of an import; the second opens the new workflow in the editor.
 * @param insert takes the nodes into the open workflow instead
 */
export function useImport(insert?: InsertGraph) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const router = useRouter();
  const [isPending, setIsPending] = useState(false);
  const [failure, setFailure] = useState<ErrorBody | null>(null);

  async function attempt<Result>(work: () => Promise<Result>): Promise<Result | null> {
    setIsPending(true);
    setFailure(null);
    try {
      return await work();
    } catch (error) {
      setFailure(errorBodyOf(error));
      setIsPending(false);
      return null;
    }
  }

  return {
    isPending,
    failure,
    clear: () => setFailure(null),
    async check(file: File): Promise<CheckedFile | null> {
      const check = await attempt(() => client.workflowFiles.check.mutate({ file }));
      setIsPending(false);
      return check && { file, check };
    },
    /** Stays busy while the editor is loading. */
    async send(input: { file: File; name?: string; links?: ImportLinks }): Promise<boolean> {
      if (insert) {
        const { name: _, ...rest } = input;
        const graph = await attempt(() => client.workflowFiles.importGraph.mutate(rest));
        if (!graph) return false;
        setIsPending(false);
        await cache.invalidateQueries(trpc.agents.pathFilter());
        const count = insert(graph);
        if (count > 0) toast.success(`${plural(count, "node")} added`, { description: "They are selected. Undo takes them back." });
        else toast.info("Nothing was added: the file holds nothing but a trigger, and this workflow has one.");
        return true;
      }
      const workflow = await attempt(() => client.workflowFiles.import.mutate(input));
      if (!workflow) return false;
      const left = workflow.problems.length;
      const notes = [
        ...(left > 0 ? [`${plural(left, "thing")} left to do: see Problems in the editor.`] : []),
        ...(workflow.enabled ? [] : ["It is off until you switch it on in the list."]),
      ];
      toast.success(`“${workflow.name}” created`, notes.length ? { description: notes.join(" ") } : {});
      router.push(`/workflows/${workflow.id}`);
      await Promise.all([cache.invalidateQueries(trpc.workflows.list.pathFilter()), cache.invalidateQueries(trpc.agents.pathFilter())]);
      return true;
    },
  };
}

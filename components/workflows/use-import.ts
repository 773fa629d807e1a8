"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ImportCheck, ImportLinks } from "#server/features/workflow-files/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import type { Graph } from "#server/workflow/schema.ts";
import { CHECK_LIST } from "#server/workflow/to-dos.ts";

type File = Record<string, unknown>;

/** A file that was checked, and what it needs. */
export interface CheckedFile {
  file: File;
  check: ImportCheck;
}

/** Puts the nodes of a file into the workflow that is open; says how many. */
export type InsertGraph = (graph: Graph) => number;

/**
 * The two calls of an import; the second opens the new workflow in the editor.
 * @param insert takes the nodes into the open workflow instead
 */
export function useImport(insert?: InsertGraph) {
  const { trpc, client, cache } = useApi();
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
      const toDos = workflow.import_report?.to_do.length ?? 0;
      const left = workflow.problems_total + toDos;
      const notes = [
        ...(left > 0 ? [`${plural(left, "thing")} left to do: see Problems in the editor.`] : []),
        ...(workflow.enabled ? [] : ["It is off until you switch it on in the list."]),
      ];
      toast.success(`“${workflow.name}” created`, notes.length ? { description: notes.join(" ") } : {});
      router.push(`/workflows/${workflow.id}${toDos > 0 ? CHECK_LIST : ""}`);
      await Promise.all([cache.invalidateQueries(trpc.workflows.list.pathFilter()), cache.invalidateQueries(trpc.agents.pathFilter())]);
      return true;
    },
  };
}

/** What the REST API takes as a body, less what stands around the file (bytes). */
const MAX_BYTES = 4_000_000;

export type ReadFile = { file: Record<string, unknown> } | { fault: string };

/** The JSON object in a text that is to be a workflow, or what is wrong with it and what to do. */
export function parseFile(text: string): ReadFile {
  if (text.trim() === "") return { fault: "There is nothing in it. Choose a file that was exported from a workflow." };
  if (new Blob([text]).size > MAX_BYTES) return { fault: "It is larger than 4 MB, more than an import takes. Split the workflow first." };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { file: value as Record<string, unknown> };
    return {
      fault: "It is JSON, but no workflow. Choose a file that was exported here or from n8n, or a React Flow graph with nodes and edges.",
    };
  } catch {
    return { fault: "It is not JSON. Choose a file that was exported here or from n8n, and paste it whole." };
  }
}

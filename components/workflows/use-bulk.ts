"use client";

import { useState } from "react";
import { plural } from "#components/format.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { BulkResult, BulkWorkflowsInput, WorkflowFilter } from "#server/features/workflows/schema.ts";

/** What is done, apart from what it is done with. */
export type BulkChange = Pick<BulkWorkflowsInput, "action" | "tags" | "folder">;

/** What it is done with. */
export type BulkTargets = { ids: string[] } | { filter: WorkflowFilter };

const done: Record<BulkWorkflowsInput["action"], string> = {
  enable: "switched on",
  disable: "switched off",
  tag: "tagged",
  untag: "taken a tag off",
  move: "moved",
  delete: "deleted",
};

/** What could not be done, and with which. */
export interface BulkOutcome {
  /** Such as "deleted". */
  done: string;
  count: number;
  failed: BulkResult["failed"];
}

/** Changes many workflows, and says what came of it: in a line, or in `outcome` when something could not be done. */
export function useBulk() {
  const { trpc, client, cache } = useApi();
  const [outcome, setOutcome] = useState<BulkOutcome | null>(null);
  const [isPending, setIsPending] = useState(false);
  /** @throws what the server refused the whole with */
  const run = async (targets: BulkTargets, change: BulkChange): Promise<BulkResult> => {
    setIsPending(true);
    try {
      const result = await client.workflows.bulk.mutate({ ...targets, ...change });
      if (result.failed.length > 0) setOutcome({ done: done[change.action], ...result });
      else toast.success(`${plural(result.count, "workflow")} ${done[change.action]}`);
      return result;
    } finally {
      setIsPending(false);
      await cache.invalidateQueries(trpc.workflows.pathFilter());
    }
  };
  /** The same from a button, which has no place for a refusal. */
  const tryRun = (targets: BulkTargets, change: BulkChange): void => {
    run(targets, change).catch((error: unknown) => toast.error("Nothing was changed", { description: errorBodyOf(error).detail }));
  };
  return { run, tryRun, isPending, outcome, closeOutcome: () => setOutcome(null) };
}

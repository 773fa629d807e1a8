"use client";

import { ChevronDown, RotateCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useRun } from "#components/runs/store/run-context.tsx";
import { planOf } from "#components/runs/store/run-snapshot.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ExecutionView } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { labelOf } from "#server/workflow/graph.ts";

/** Starts the run on the screen again and opens the new one. */
function useRerun(executionId: string) {
  const client = useTRPCClient();
  const router = useRouter();
  const [isStarting, setIsStarting] = useState(false);
  const rerun = async (options: { from_node_id?: string; use_current?: boolean } = {}) => {
    setIsStarting(true);
    try {
      const { execution_id } = await client.executions.rerun.mutate({ execution_id: executionId, ...options });
      router.push(`/runs/${execution_id}`);
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
      setIsStarting(false);
    }
  };
  return { isStarting, rerun };
}

/** For a run that has ended: the same again, as it was or with the workflow as it is saved now, with the same input or another; or into the editor with its outputs pinned. */
export function RunAgain({ execution: { id, version, workflow_id } }: { execution: ExecutionView["execution"] }) {
  const { canEdit } = useStudio();
  const isOver = useRun((state) => (state.snapshot ? isFinal(state.snapshot.status) : false));
  const { isStarting, rerun } = useRerun(id);
  if (!isOver || !canEdit) return null;
  return (
    <Menu
      className="w-64"
      trigger={
        <Button icon={<RotateCw />} isPending={isStarting}>
          Run again
          <ChevronDown aria-hidden className="-mr-1 size-3.5 text-ink-faint" />
        </Button>
      }
    >
      <MenuItem onSelect={() => void rerun()}>{version === null ? "Same draft, same input" : `Version ${version}, same input`}</MenuItem>
      <MenuItem onSelect={() => void rerun({ use_current: true })}>Current version, same input</MenuItem>
      <MenuItem asChild>
        <Link href={`/runs/${id}/fork?input=1`}>{version === null ? "Same draft" : `Version ${version}`}, another input…</Link>
      </MenuItem>
      <MenuSeparator />
      <MenuItem asChild>
        <Link href={`/workflows/${workflow_id}?run=${id}&debug=1`}>Debug in editor, outputs pinned</Link>
      </MenuItem>
    </Menu>
  );
}

/** For a node of a run that has ended: it and what depends on it again, everything else taken over. A loop's body runs with its loop. */
export function RunAgainFromHere({ nodeId }: { nodeId: string }) {
  const { canEdit } = useStudio();
  const executionId = useRun((state) => state.executionId) ?? "";
  const isOver = useRun((state) => (state.snapshot ? isFinal(state.snapshot.status) : false));
  const graph = useRun((state) => state.view?.graph);
  const { isStarting, rerun } = useRerun(executionId);
  if (!isOver || !canEdit || !graph) return null;
  const from = planOf(graph).loopsAround(nodeId)[0] ?? nodeId;
  const loop = from === nodeId ? undefined : graph.nodes.find((node) => node.id === from);
  const what = loop ? `Run again from loop “${labelOf(loop)}”` : "Run again from here";
  return (
    <>
      <Button size="sm" icon={<RotateCw />} isPending={isStarting} onClick={() => void rerun({ from_node_id: from })}>
        {what}
      </Button>
      <Button asChild size="sm" variant="ghost">
        <Link href={`/runs/${executionId}/fork?input=1&from=${encodeURIComponent(from)}`}>Change input…</Link>
      </Button>
    </>
  );
}

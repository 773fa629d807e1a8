"use client";

import { RenameDialog } from "#components/forms/rename-dialog.tsx";
import { useApi } from "#components/trpc.tsx";
import { CreateWorkflowInput, type ListedWorkflow } from "#server/features/workflows/schema.ts";

const NameAndDescription = CreateWorkflowInput.pick({ name: true, description: true }).required();

export function RenameWorkflowDialog({ workflow, onClose }: { workflow: ListedWorkflow; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const { id: workflow_id, name, description } = workflow;
  const save = async (value: { name: string; description: string }) => {
    await client.workflows.update.mutate({ workflow_id, ...value });
    await cache.invalidateQueries(trpc.workflows.pathFilter());
  };
  return <RenameDialog what="workflow" schema={NameAndDescription} initial={{ name, description }} save={save} onClose={onClose} />;
}

"use client";

import { useQueryClient } from "@tanstack/react-query";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { CreateWorkflowInput, type WorkflowSummary } from "#server/features/workflows/schema.ts";

const Rename = CreateWorkflowInput.pick({ name: true, description: true }).required();

export function RenameWorkflowDialog({ workflow, onClose }: { workflow: WorkflowSummary | null; onClose: () => void }) {
  return (
    <Dialog open={workflow !== null} onOpenChange={(open) => !open && onClose()} title="Rename workflow" size="sm">
      {workflow && <RenameForm workflow={workflow} onDone={onClose} />}
    </Dialog>
  );
}

function RenameForm({ workflow, onDone }: { workflow: WorkflowSummary; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const form = useForm({
    schema: Rename,
    initial: { name: workflow.name, description: workflow.description },
    submit: async (value) => {
      await client.workflows.update.mutate({ workflow_id: workflow.id, ...value });
      await cache.invalidateQueries(trpc.workflows.pathFilter());
      onDone();
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField form={form} name="name" hint={null} autoFocus autoComplete="off" />
      <FormField form={form} name="description" isOptional hint={null} rows={2} />
      <FormFooter form={form}>Rename</FormFooter>
    </form>
  );
}

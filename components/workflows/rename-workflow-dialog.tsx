"use client";

import { useQueryClient } from "@tanstack/react-query";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { CreateWorkflowInput, type WorkflowSummary } from "#server/schemas/workflow.ts";

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
      <FormFailure failure={form.failure} />
      <DialogFooter>
        <Button type="submit" variant="primary" isPending={form.isPending}>
          Rename
        </Button>
      </DialogFooter>
    </form>
  );
}

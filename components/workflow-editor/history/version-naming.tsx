"use client";

import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { CreateWorkflowInput } from "#server/features/workflows/schema.ts";

// A name as everywhere else: this dialog only gives one, the history takes it away.
const Naming = CreateWorkflowInput.pick({ name: true }).required();

/** Asks for a version's name: of the one that Save makes now, or of the current one when there is nothing to save. */
export function NameVersionDialog({ onClose }: { onClose: () => void }) {
  const session = useSession();
  const isAhead = useSessionState((state) => state.isAhead);
  const version = useSessionState((state) => state.version);
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: Naming,
    initial: { name: "" },
    submit: async ({ name }) => {
      // Why a save did not go through is told where every save tells it.
      if (session.store.getState().isAhead && !(await session.save())) return onClose();
      const saved = session.store.getState().version;
      await client.workflowVersions.name.mutate({ workflow_id: session.workflowId, version: saved, name });
      await cache.invalidateQueries(trpc.workflowVersions.list.pathFilter());
      toast.success(`Version ${saved} is called “${name}”`);
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={isAhead ? `Save as version ${version + 1}, with a name` : `Name version ${version}`}
      size="sm"
      form={form}
      submitLabel={isAhead ? "Save version" : "Name version"}
    >
      <FormField form={form} name="name" hint={null} autoFocus autoComplete="off" />
    </FormDialog>
  );
}

"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { CreateWorkflowInput } from "#server/features/workflows/schema.ts";

// A name as everywhere else: this dialog only gives one, the history takes it away.
const Naming = CreateWorkflowInput.pick({ name: true }).required();

/** Asks for a version's name: of the one that Save makes now, or of the current one when there is nothing to save. */
export function NameVersionDialog() {
  const history = useHistoryStore();
  const isOpen = useHistory((state) => state.isNaming);
  const isAhead = useSessionState((state) => state.isAhead);
  const version = useSessionState((state) => state.version);
  const close = () => history.setState({ isNaming: false });
  return (
    <Dialog
      open={isOpen}
      onOpenChange={(open) => !open && close()}
      title={isAhead ? `Save as version ${version + 1}, with a name` : `Name version ${version}`}
      size="sm"
    >
      {isOpen && <NameForm isAhead={isAhead} onDone={close} />}
    </Dialog>
  );
}

function NameForm({ isAhead, onDone }: { isAhead: boolean; onDone: () => void }) {
  const session = useSession();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const form = useForm({
    schema: Naming,
    initial: { name: "" },
    submit: async ({ name }) => {
      // Why a save did not go through is told where every save tells it.
      if (session.store.getState().isAhead && !(await session.save())) return onDone();
      const { version } = session.store.getState();
      await client.workflowVersions.name.mutate({ workflow_id: session.workflowId, version, name });
      await cache.invalidateQueries(trpc.workflowVersions.list.pathFilter());
      toast.success(`Version ${version} is called “${name}”`);
      onDone();
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField form={form} name="name" hint={null} autoFocus autoComplete="off" />
      <FormFooter form={form}>{isAhead ? "Save version" : "Name version"}</FormFooter>
    </form>
  );
}

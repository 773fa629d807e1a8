"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { CreateLlmKeyInput, type LlmKey } from "#server/features/llm-keys/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";

/** Gives an LLM key a new value, e.g. when the old one has leaked; agents that use it stay as they are. */
export function ReplaceKeyDialog({ llmKey, onClose }: { llmKey: LlmKey | null; onClose: () => void }) {
  return (
    <Dialog
      open={llmKey !== null}
      onOpenChange={(open) => !open && onClose()}
      title={`New value for “${llmKey?.name ?? ""}”`}
      description="Agents that use it stay as they are; one of them makes a short check call first. The old value cannot be brought back."
    >
      {llmKey && <ReplaceForm llmKey={llmKey} onDone={onClose} />}
    </Dialog>
  );
}

const NewKey = CreateLlmKeyInput.pick({ api_key: true });

function ReplaceForm({ llmKey, onDone }: { llmKey: LlmKey; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const form = useForm({
    schema: NewKey,
    initial: { api_key: "" },
    submit: async ({ api_key }) => {
      await client.llmKeys.update.mutate({ key_id: llmKey.id, api_key });
      await cache.invalidateQueries(trpc.llmKeys.pathFilter());
      toast.success(`“${llmKey.name}” has a new value`);
      onDone();
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField
        form={form}
        name="api_key"
        type="password"
        hint={`${providerKind(llmKey.provider).keyHint}; now ${llmKey.masked_key}`}
        autoComplete="off"
        autoFocus
        isCode
      />
      <FormFooter form={form}>Replace key</FormFooter>
    </form>
  );
}

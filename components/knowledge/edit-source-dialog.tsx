"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { withoutConfigPrefix } from "#components/knowledge/config-errors.ts";
import { SourceFields, sourceSchema } from "#components/knowledge/source-fields.tsx";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { CreateRagInput, type Rag } from "#server/features/knowledge/schema.ts";

interface EditSourceDialogProps {
  rag: Rag;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onSaved: () => void;
}

/** Changes a source's name and settings; secrets show as they are masked, and stay when they are left so. */
export function EditSourceDialog({ rag, open, onOpenChange, onSaved }: EditSourceDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Settings of the source">
      <EditSourceForm
        rag={rag}
        onSaved={() => {
          onOpenChange(false);
          onSaved();
        }}
      />
    </Dialog>
  );
}

function EditSourceForm({ rag, onSaved }: { rag: Rag; onSaved: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const form = useForm({
    schema: sourceSchema(rag.type, CreateRagInput.shape.name),
    initial: { ...rag.config, name: rag.name },
    submit: async ({ name, ...given }) => {
      const config = withoutHalfEmbedding(given);
      const saved = await withoutConfigPrefix(client.rags.update.mutate({ rag_id: rag.id, name: String(name), config }));
      cache.setQueryData(trpc.rags.get.queryKey({ rag_id: rag.id }), saved);
      toast.success("Source saved");
      onSaved();
      await cache.invalidateQueries(trpc.rags.pathFilter());
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField form={form} name="name" autoComplete="off" />
      <SourceFields form={form} type={rag.type} isNew={false} />
      {rag.type === "documents" && <p className="text-12 text-ink-faint">With another embedding model, all documents are indexed anew.</p>}
      <FormFooter form={form}>Save</FormFooter>
    </form>
  );
}

/** Without a key the model is not shown, so it goes with it. */
const withoutHalfEmbedding = (config: Record<string, unknown>): Record<string, unknown> =>
  config.embedding_llm_key_id === null ? { ...config, embedding_model: null } : config;

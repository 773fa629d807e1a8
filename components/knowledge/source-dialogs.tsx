"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Form, FormDialog, FormFooter } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { defaultSettings, SourceFields, sourceSchema, withoutConfigPrefix } from "#components/knowledge/source-fields.tsx";
import { sourceKinds } from "#components/knowledge/source-kinds.ts";
import { useApi } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { Dialog } from "#components/ui/dialog.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateRagInput, type Rag, RagType } from "#server/features/knowledge/schema.ts";

/** Adds a knowledge source: first which kind, then what that kind needs. */
export function CreateSourceDialog({ onClose }: { onClose: () => void }) {
  const [type, setType] = useState<RagType>("documents");
  const [name, setName] = useState("");
  return (
    <Dialog onClose={onClose} title="New knowledge source">
      <fieldset className="grid gap-2 sm:grid-cols-2">
        <legend className="mb-1.5 font-medium text-12">Kind</legend>
        {RagType.options.map((option) => {
          const { label, description, icon: Icon } = sourceKinds[option];
          return (
            <label
              key={option}
              className={cn(
                "flex cursor-pointer gap-2.5 rounded-md border bg-surface p-2.5 transition-colors has-focus-visible:outline-2 has-focus-visible:outline-thread",
                type === option ? "border-thread bg-thread-soft" : "hover:border-line-control",
              )}
            >
              <input
                type="radio"
                name="kind"
                value={option}
                checked={type === option}
                onChange={() => setType(option)}
                className="sr-only"
              />
              <Icon aria-hidden className={cn("mt-0.5 size-4 shrink-0", type === option ? "text-thread-text" : "text-ink-soft")} />
              <span className="min-w-0">
                <span className="block font-medium text-13">{label}</span>
                <span className="block text-12 text-ink-soft">{description}</span>
              </span>
            </label>
          );
        })}
      </fieldset>
      <CreateSourceForm key={type} type={type} name={name} onNameChange={setName} onDone={onClose} />
    </Dialog>
  );
}

interface CreateSourceFormProps {
  type: RagType;
  /** Kept while another kind is chosen. */
  name: string;
  onNameChange: (name: string) => void;
  onDone: () => void;
}

function CreateSourceForm({ type, name: firstName, onNameChange, onDone }: CreateSourceFormProps) {
  const { trpc, client, cache } = useApi();
  const router = useRouter();
  const form = useForm({
    schema: sourceSchema(type, CreateRagInput.shape.name),
    initial: { ...defaultSettings(type), name: firstName },
    submit: async ({ name, ...config }) => {
      const rag = await withoutConfigPrefix(client.rags.create.mutate({ name: String(name), type, config }));
      await cache.invalidateQueries(trpc.rags.list.pathFilter());
      toast.success(`Source “${rag.name}” created`);
      onDone();
      router.push(`/knowledge/${rag.id}`);
    },
  });
  return (
    <Form
      form={form}
      onChange={(event) => {
        const target: unknown = event.target;
        if (target instanceof HTMLInputElement && target.name === "name") onNameChange(target.value);
      }}
    >
      <FormField form={form} name="name" autoComplete="off" placeholder="Handbook" />
      <SourceFields form={form} type={type} isNew />
      <FormFooter form={form}>Create source</FormFooter>
    </Form>
  );
}

interface EditSourceDialogProps {
  rag: Rag;
  onClose: () => void;
  onSaved: () => void;
}

/** Changes a source's name and settings; secrets show as they are masked, and stay when they are left so. */
export function EditSourceDialog({ rag, onClose, onSaved }: EditSourceDialogProps) {
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: sourceSchema(rag.type, CreateRagInput.shape.name),
    initial: { ...rag.config, name: rag.name },
    submit: async ({ name, ...given }) => {
      const config = withoutHalfEmbedding(given);
      const saved = await withoutConfigPrefix(client.rags.update.mutate({ rag_id: rag.id, name: String(name), config }));
      cache.setQueryData(trpc.rags.get.queryKey({ rag_id: rag.id }), saved);
      toast.success("Source saved");
      onClose();
      onSaved();
      await cache.invalidateQueries(trpc.rags.pathFilter());
    },
  });
  return (
    <FormDialog onClose={onClose} title="Settings of the source" form={form} submitLabel="Save">
      <FormField form={form} name="name" autoComplete="off" />
      <SourceFields form={form} type={rag.type} isNew={false} />
      {rag.type === "documents" && <p className="text-12 text-ink-faint">With another embedding model, all documents are indexed anew.</p>}
    </FormDialog>
  );
}

/** Without a key the model is not shown, so it goes with it. */
const withoutHalfEmbedding = (config: Record<string, unknown>): Record<string, unknown> =>
  config.embedding_llm_key_id === null ? { ...config, embedding_model: null } : config;

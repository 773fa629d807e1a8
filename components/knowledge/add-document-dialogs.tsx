"use client";

import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { AddRagDocumentInput } from "#server/features/knowledge/schema.ts";

const { title, text, url } = AddRagDocumentInput.shape;
const TextForm = AddRagDocumentInput.pick({ title: true, text: true }).extend({ title: title.nonoptional(), text: text.nonoptional() });
const UrlForm = AddRagDocumentInput.pick({ url: true }).extend({ url: url.nonoptional() });

interface AddDialogProps {
  ragId: string;
  onClose: () => void;
}

/** Sends a document and shows it in the list. */
function useAddDocument(ragId: string, onDone: () => void) {
  const { trpc, client, cache } = useApi();
  return async (fields: { title?: string; text?: string; url?: string }) => {
    const document = await client.rags.addDocument.mutate({ rag_id: ragId, ...fields });
    await cache.invalidateQueries(trpc.rags.pathFilter());
    toast.success(`“${document.title}” is being indexed`);
    onDone();
  };
}

export function AddByTextDialog({ ragId, onClose }: AddDialogProps) {
  const add = useAddDocument(ragId, onClose);
  const form = useForm({ schema: TextForm, initial: { title: "", text: "" }, submit: add });
  return (
    <FormDialog onClose={onClose} title="Add text" size="lg" form={form} submitLabel="Add text">
      <FormField form={form} name="title" autoComplete="off" />
      <FormField form={form} name="text" rows={12} hint="Plain text or Markdown; headings become places in citations." />
    </FormDialog>
  );
}

export function AddByUrlDialog({ ragId, onClose }: AddDialogProps) {
  const add = useAddDocument(ragId, onClose);
  const form = useForm({ schema: UrlForm, initial: { url: "" }, submit: add });
  return (
    <FormDialog onClose={onClose} title="Add URL" form={form} submitLabel="Add URL">
      <FormField form={form} name="url" type="url" placeholder="https://…" autoComplete="off" />
    </FormDialog>
  );
}

"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { AddRagDocumentInput } from "#server/features/knowledge/schema.ts";

const { title, text, url } = AddRagDocumentInput.shape;
const TextForm = AddRagDocumentInput.pick({ title: true, text: true }).extend({ title: title.nonoptional(), text: text.nonoptional() });
const UrlForm = AddRagDocumentInput.pick({ url: true }).extend({ url: url.nonoptional() });

interface AddDialogProps {
  ragId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Sends a document and shows it in the list. */
function useAddDocument(ragId: string, onDone: () => void) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  return async (fields: { title?: string; text?: string; url?: string }) => {
    const document = await client.rags.addDocument.mutate({ rag_id: ragId, ...fields });
    await cache.invalidateQueries(trpc.rags.pathFilter());
    toast.success(`“${document.title}” is being indexed`);
    onDone();
  };
}

export function AddByTextDialog({ ragId, open, onOpenChange }: AddDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Add text" size="lg">
      <TextBody ragId={ragId} onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

function TextBody({ ragId, onDone }: { ragId: string; onDone: () => void }) {
  const add = useAddDocument(ragId, onDone);
  const form = useForm({ schema: TextForm, initial: { title: "", text: "" }, submit: add });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField form={form} name="title" autoComplete="off" />
      <FormField form={form} name="text" rows={12} hint="Plain text or Markdown; headings become places in citations." />
      <FormFooter form={form}>Add text</FormFooter>
    </form>
  );
}

export function AddByUrlDialog({ ragId, open, onOpenChange }: AddDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Add URL">
      <UrlBody ragId={ragId} onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

function UrlBody({ ragId, onDone }: { ragId: string; onDone: () => void }) {
  const add = useAddDocument(ragId, onDone);
  const form = useForm({ schema: UrlForm, initial: { url: "" }, submit: add });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField form={form} name="url" type="url" placeholder="https://…" autoComplete="off" />
      <FormFooter form={form}>Add URL</FormFooter>
    </form>
  );
}

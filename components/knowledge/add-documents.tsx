"use client";

import { FileUp, Link2, Type } from "lucide-react";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { FileDrop } from "#components/ui/file-drop.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { AddRagDocumentInput, RagDocument } from "#server/features/knowledge/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const ACCEPTED = ".txt,.md,.markdown,.html,.htm,.pdf,.docx,.csv,.json,.xml,.yaml,.yml,.log";

/** Ways to add documents: files by drop or choice, a text, a web page. */
export function AddDocuments({ ragId }: { ragId: string }) {
  const { trpc, cache } = useApi();
  const { project } = useStudio();
  const [left, setLeft] = useState(0);
  const [failures, setFailures] = useState<string[]>([]);
  const [adding, setAdding] = useState<"text" | "url" | null>(null);

  // One after the other: each is stored whole before it is answered.
  const upload = async (files: File[]) => {
    setFailures([]);
    setLeft(files.length);
    for (const [index, file] of files.entries()) {
      try {
        await uploadFile(project.id, ragId, file);
      } catch (error) {
        const text = error instanceof Error ? error.message : "It could not be added.";
        setFailures((before) => [...before, `${file.name}: ${text}`]);
      }
      setLeft(files.length - index - 1);
      await cache.invalidateQueries(trpc.rags.pathFilter());
    }
  };
  return (
    <>
      <FileDrop
        label="Add documents"
        words={left > 0 ? `Sending ${plural(left, "file")}…` : "Drop files here: PDF, Word, Markdown, HTML or text."}
        accept={ACCEPTED}
        isMultiple
        inputLabel="Files to add"
        button={{ label: "Choose files", icon: <FileUp />, variant: "primary" }}
        isPending={left > 0}
        onFiles={(files) => void upload(files)}
      >
        <Button icon={<Type />} onClick={() => setAdding("text")}>
          Add text
        </Button>
        <Button icon={<Link2 />} onClick={() => setAdding("url")}>
          Add URL
        </Button>
      </FileDrop>
      {failures.length > 0 && (
        <Notice tone="failed" title={`${plural(failures.length, "file")} not added`}>
          {failures.join("\n")}
        </Notice>
      )}
      {adding === "text" && <AddByTextDialog ragId={ragId} onClose={() => setAdding(null)} />}
      {adding === "url" && <AddByUrlDialog ragId={ragId} onClose={() => setAdding(null)} />}
    </>
  );
}

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

function AddByTextDialog({ ragId, onClose }: AddDialogProps) {
  const add = useAddDocument(ragId, onClose);
  const form = useForm({ schema: TextForm, initial: { title: "", text: "" }, submit: add });
  return (
    <FormDialog onClose={onClose} title="Add text" size="lg" form={form} submitLabel="Add text">
      <FormField form={form} name="title" autoComplete="off" />
      <FormField form={form} name="text" rows={12} hint="Plain text or Markdown; headings become places in citations." />
    </FormDialog>
  );
}

function AddByUrlDialog({ ragId, onClose }: AddDialogProps) {
  const add = useAddDocument(ragId, onClose);
  const form = useForm({ schema: UrlForm, initial: { url: "" }, submit: add });
  return (
    <FormDialog onClose={onClose} title="Add URL" form={form} submitLabel="Add URL">
      <FormField form={form} name="url" type="url" placeholder="https://…" autoComplete="off" />
    </FormDialog>
  );
}

/**
 * Sends a file to a knowledge source. A form with a file is no tRPC call, so it has a route of its own.
 * @throws Error whose text is for people
 */
export async function uploadFile(projectId: string, ragId: string, file: File): Promise<RagDocument> {
  const body = new FormData();
  body.set("file", file);
  const response = await fetch(`/api/v1/bridge/rags/${ragId}/documents`, {
    method: "POST",
    body,
    headers: { "X-Project-ID": projectId },
  }).catch(() => undefined);
  if (!response) throw new Error("The service cannot be reached. Check your connection and try again.");
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return RagDocument.parse(answer);
  throw new Error(ErrorBody.safeParse(answer).data?.detail ?? "The file could not be added. Try again.");
}

"use client";

import { FileUp, Link2, Type } from "lucide-react";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyIn, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { FileDrop } from "#components/ui/file-drop.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";

const AddByTextDialog = loadedOnUse(() =>
  import("#components/knowledge/add-document-dialogs.tsx").then((module) => module.AddByTextDialog),
);
const AddByUrlDialog = loadedOnUse(() => import("#components/knowledge/add-document-dialogs.tsx").then((module) => module.AddByUrlDialog));

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

/**
 * Sends a file to a knowledge source. A form with a file is no tRPC call, so it has a route of its own.
 * @throws Error whose text is for people
 */
async function uploadFile(projectId: string, ragId: string, file: File): Promise<void> {
  const body = new FormData();
  body.set("file", file);
  const response = await fetch(`/api/v1/bridge/rags/${ragId}/documents`, {
    method: "POST",
    body,
    headers: { "X-Project-ID": projectId },
  }).catch(() => undefined);
  if (!response) throw new Error("The service cannot be reached. Check your connection and try again.");
  if (response.ok) return;
  const answer: unknown = await response.json().catch(() => undefined);
  throw new Error(errorBodyIn(answer)?.detail ?? "The file could not be added. Try again.");
}

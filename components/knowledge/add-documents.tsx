"use client";

import { useQueryClient } from "@tanstack/react-query";
import { FileUp, Link2, Type } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { plural } from "#components/format.ts";
import { AddByTextDialog, AddByUrlDialog } from "#components/knowledge/add-document-dialogs.tsx";
import { uploadFile } from "#components/knowledge/upload-file.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Notice } from "#components/ui/notice.tsx";

const ACCEPTED = ".txt,.md,.markdown,.html,.htm,.pdf,.docx,.csv,.json,.xml,.yaml,.yml,.log";

/** Ways to add documents: files by drop or choice, a text, a web page. */
export function AddDocuments({ ragId }: { ragId: string }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { project } = useStudio();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
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
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void upload([...event.dataTransfer.files]);
  };
  return (
    <>
      <section
        aria-label="Add documents"
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={onDrop}
        className={cn(
          "flex flex-wrap items-center gap-x-4 gap-y-3 rounded-lg border border-line-strong border-dashed p-4 transition-colors",
          isOver && "border-thread bg-thread-soft",
        )}
      >
        <FileUp aria-hidden className="size-5 shrink-0 text-ink-faint max-sm:hidden" />
        <p className="min-w-40 flex-1 text-13 text-ink-soft">
          {left > 0 ? `Sending ${plural(left, "file")}…` : "Drop files here: PDF, Word, Markdown, HTML or text."}
        </p>
        <input
          ref={input}
          type="file"
          multiple
          accept={ACCEPTED}
          aria-label="Files to add"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            const files = [...(event.target.files ?? [])];
            event.target.value = "";
            void upload(files);
          }}
        />
        <div className="flex flex-wrap gap-2">
          <Button variant="primary" icon={<FileUp />} isPending={left > 0} onClick={() => input.current?.click()}>
            Choose files
          </Button>
          <Button icon={<Type />} onClick={() => setAdding("text")}>
            Add text
          </Button>
          <Button icon={<Link2 />} onClick={() => setAdding("url")}>
            Add URL
          </Button>
        </div>
      </section>
      {failures.length > 0 && (
        <Notice tone="failed" title={`${plural(failures.length, "file")} not added`}>
          {failures.join("\n")}
        </Notice>
      )}
      <AddByTextDialog ragId={ragId} open={adding === "text"} onOpenChange={() => setAdding(null)} />
      <AddByUrlDialog ragId={ragId} open={adding === "url"} onOpenChange={() => setAdding(null)} />
    </>
  );
}

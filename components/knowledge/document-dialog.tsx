"use client";

import { useQuery } from "@tanstack/react-query";
import { DocumentCharsetField } from "#components/knowledge/document-charset.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { type RagDocument, SHOWN_TEXT } from "#server/features/knowledge/schema.ts";

/** Interval at which a document is read again while it is being indexed, in ms. */
const POLL_MS = 1500;

export type ShownDocument = Pick<RagDocument, "id" | "rag_id" | "title" | "uri">;

interface DocumentDialogProps {
  document: ShownDocument;
  /** What stands in it is marked and in sight. */
  passage?: string | null;
  onClose: () => void;
}

/** The text of a document as it was read, so that people see what agents see. */
export function DocumentDialog({ document: { id, rag_id, title, uri }, passage = null, onClose }: DocumentDialogProps) {
  const trpc = useTRPC();
  const { canEdit } = useStudio();
  const document = useQuery(
    trpc.rags.document.queryOptions(
      { rag_id, document_id: id },
      { refetchInterval: ({ state }) => (state.data?.status === "indexing" ? POLL_MS : false) },
    ),
  );
  return (
    <Dialog onClose={onClose} title={title} size="lg">
      <LoadFailure query={document} />
      {document.isPending && <Skeleton className="h-64" />}
      {document.data && <DocumentCharsetField document={document.data} canEdit={canEdit} />}
      {document.data && <DocumentText uri={uri} text={document.data.text} passage={passage} />}
    </Dialog>
  );
}

/** Where a passage stands in a text, however it is broken into lines: from where to where. */
export function placeOfPassage(text: string, passage: string): [number, number] | null {
  const words = passage.split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const found = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+")).exec(text);
  return found && [found.index, found.index + found[0].length];
}

function DocumentText({ uri, text, passage }: { uri: string | null; text: string; passage: string | null }) {
  const place = passage === null ? null : placeOfPassage(text, passage);
  return (
    <>
      {uri && (
        <a href={uri} target="_blank" rel="noreferrer" className="break-all text-12 text-thread-text hover:underline">
          {uri}
        </a>
      )}
      {passage !== null && text !== "" && place === null && (
        <Notice tone="waiting">
          {text.length >= SHOWN_TEXT
            ? "The passage that was cited is not in this part of the text; it may have changed since."
            : "The passage that was cited is not here any more: the document has changed since."}
        </Notice>
      )}
      {text === "" ? (
        <p className="text-14 text-ink-soft">Its text has not been read yet.</p>
      ) : (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
          tabIndex={0}
          aria-label="Text of the document"
          className="max-h-[60vh] overflow-y-auto whitespace-pre-wrap break-words rounded-md border bg-sunken p-3 text-14"
        >
          {place ? (
            <>
              {text.slice(0, place[0])}
              <mark
                ref={(element) => element?.scrollIntoView({ block: "center" })}
                className="rounded-sm bg-waiting-soft text-ink outline-2 outline-waiting-soft"
              >
                {text.slice(...place)}
              </mark>
              {text.slice(place[1])}
            </>
          ) : (
            text
          )}
          {text.length >= SHOWN_TEXT && <p className="mt-3 text-ink-faint">The rest is not shown.</p>}
        </section>
      )}
    </>
  );
}

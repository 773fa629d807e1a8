"use client";

import { useQuery } from "@tanstack/react-query";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { DocumentDialog } from "#components/knowledge/document-dialog.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Notice } from "#components/ui/notice.tsx";

/** The document that the address names, as a citation of an agent's answer does. */
export function CitedDocument({ ragId }: { ragId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePathname();
  const id = useSearchParams().get("document");
  const document = useQuery(
    trpc.rags.document.queryOptions({ rag_id: ragId, document_id: id ?? "" }, { enabled: id !== null, retry: false }),
  );
  if (id === null) return null;
  if (document.isError)
    return (
      <Notice tone="waiting">
        {errorBodyOf(document.error).status === 404
          ? "The document that was cited is not here any more."
          : "The document that was cited could not be loaded. Reload the page to try again."}
      </Notice>
    );
  return <DocumentDialog document={document.data ?? null} onClose={() => router.replace(path, { scroll: false })} />;
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { isMissing, useTRPC } from "#components/trpc.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";

const DocumentDialog = loadedOnUse(() => import("#components/knowledge/document-dialog.tsx").then((module) => module.DocumentDialog));

/** The document that the address names, as a citation of an agent's answer does. */
export function CitedDocument({ ragId }: { ragId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePathname();
  const search = useSearchParams();
  const id = search.get("document");
  const document = useQuery(
    trpc.rags.document.queryOptions({ rag_id: ragId, document_id: id ?? "" }, { enabled: id !== null, retry: false }),
  );
  if (id === null) return null;
  if (document.isError)
    return (
      <Notice tone="waiting">
        {isMissing(document.error)
          ? "The document that was cited is not here any more."
          : "The document that was cited could not be loaded. Reload the page to try again."}
      </Notice>
    );
  return (
    document.data && (
      <DocumentDialog document={document.data} passage={search.get("passage")} onClose={() => router.replace(path, { scroll: false })} />
    )
  );
}

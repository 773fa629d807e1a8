"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { formatBytes, plural } from "#components/format.ts";
import { AddDocuments } from "#components/knowledge/add-documents.tsx";
import { CitedDocument } from "#components/knowledge/cited-document.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { StatusIcon } from "#components/ui/status.tsx";
import { thumbRoom } from "#components/ui/styles.ts";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Rag, RagDocument } from "#server/features/knowledge/schema.ts";

const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));
const DocumentDialog = loadedOnUse(() => import("#components/knowledge/document-dialog.tsx").then((module) => module.DocumentDialog));

/** How often documents that are being indexed are asked for again, in milliseconds. */
const WATCH_MS = 1500;

/** The documents of a source, with ways to add some. */
export function DocumentsPanel({ rag }: { rag: Rag }) {
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const [deleting, setDeleting] = useState<RagDocument | null>(null);
  const [shown, setShown] = useState<RagDocument | null>(null);
  const documents = useQuery(
    trpc.rags.documents.queryOptions(
      { rag_id: rag.id, ...input },
      {
        placeholderData: keepPreviousData,
        refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === "indexing") ? WATCH_MS : false),
      },
    ),
  );
  const refresh = () => cache.invalidateQueries(trpc.rags.pathFilter());
  const remove = useMutation(trpc.rags.deleteDocument.mutationOptions());
  const again = useMutation(
    trpc.rags.reindexDocument.mutationOptions({ onSuccess: refresh, onError: (error) => toast.error(errorBodyOf(error).detail) }),
  );
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <CitedDocument ragId={rag.id} />
      {canEdit && <AddDocuments ragId={rag.id} />}
      <PagedTable
        label="Documents"
        loadingLabel="Loading documents"
        query={documents}
        search={search}
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Document</TableHeader>
            <TableHeader className="max-sm:hidden">Status</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={
          <EmptyState title="No documents yet" size="panel">
            What is added here is cut into pieces and indexed; a search then finds the pieces that fit, with their page or heading.
          </EmptyState>
        }
      >
        {(document) => (
          <TableRow key={document.id}>
            <TableCell className="py-2">
              <button
                type="button"
                onClick={() => setShown(document)}
                className={cn("min-h-6 break-words text-left font-semibold hover:underline [overflow-wrap:anywhere]", thumbRoom)}
              >
                {document.title}
              </button>
              <span className="block text-12 text-ink-faint">
                {[document.bytes > 0 && formatBytes(document.bytes), document.chunk_count > 0 && plural(document.chunk_count, "piece")]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
              <span className="my-1 block sm:hidden">
                <DocumentStatus document={document} />
              </span>
              {document.error && (
                <span className={document.status === "failed" ? "block text-12 text-failed" : "block text-12 text-waiting"}>
                  {document.error}
                </span>
              )}
            </TableCell>
            <TableCell className="w-28 whitespace-nowrap max-sm:hidden">
              <DocumentStatus document={document} />
            </TableCell>
            <TableCell className="w-10">
              {canEdit && (
                <RowMenu of={document.title} isPending={again.isPending && again.variables.document_id === document.id}>
                  {(document.status === "failed" || (document.uri && document.status === "ready")) && (
                    <MenuItem icon={<RotateCw />} onSelect={() => again.mutate({ rag_id: rag.id, document_id: document.id })}>
                      {document.status === "failed" ? "Try again" : "Fetch again"}
                    </MenuItem>
                  )}
                  <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setDeleting(document)}>
                    Delete
                  </MenuItem>
                </RowMenu>
              )}
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {shown && <DocumentDialog document={shown} onClose={() => setShown(null)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete “${deleting.title}”?`}
          confirmLabel="Delete document"
          onConfirm={async () => {
            await remove.mutateAsync({ rag_id: rag.id, document_id: deleting.id });
            await refresh();
          }}
        >
          Agents no longer find what it says.
        </ConfirmDialog>
      )}
    </div>
  );
}

function DocumentStatus({ document: { status, progress } }: { document: RagDocument }) {
  if (status === "indexing")
    return (
      <Badge tone="running">
        <StatusIcon status="running" isDecorative className="size-3" />
        Indexing{progress > 0 ? ` ${Math.round(progress * 100)} %` : ""}
      </Badge>
    );
  const isReady = status === "ready";
  return (
    <Badge tone={isReady ? "complete" : "failed"}>
      <StatusIcon status={isReady ? "complete" : "failed"} isDecorative className="size-3" />
      {isReady ? "Ready" : "Failed"}
    </Badge>
  );
}

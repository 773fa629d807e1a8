"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { sourceKinds } from "#components/knowledge/source-kinds.ts";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { PagedTable, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import type { Rag } from "#server/features/knowledge/schema.ts";

const CreateSourceDialog = loadedOnUse(() =>
  import("#components/knowledge/source-dialogs.tsx").then((module) => module.CreateSourceDialog),
);

/** How often a list with documents that are being indexed is asked for again, in milliseconds. */
const WATCH_MS = 2000;

export function KnowledgePage() {
  const trpc = useTRPC();
  const { canEdit } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const [isCreating, setIsCreating] = useState(false);
  const rags = useQuery(
    trpc.rags.list.queryOptions(input, {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (state.data?.items.some(({ documents }) => documents?.indexing) ? WATCH_MS : false),
    }),
  );
  const create = canEdit && (
    <Button variant="primary" icon={<Plus />} onClick={() => setIsCreating(true)}>
      New source
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Knowledge"
        description="What agents look up before they answer, with a citation of document and place."
        actions={rags.data && (rags.data.total > 0 || search.q) ? create : undefined}
      />
      <PagedTable
        label="Knowledge sources"
        loadingLabel="Loading sources"
        query={rags}
        search={search}
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-sm:hidden">Kind</TableHeader>
            <TableHeader>Documents</TableHeader>
            <TableHeader className="max-md:hidden">Changed</TableHeader>
          </>
        }
        empty={
          <EmptyState title="Give your agents something to read" actions={create}>
            Drop in handbooks, contracts or web pages; they are searched by words and, with an embedding key, by meaning. A vector store or
            a search service that you have already can be connected too.
          </EmptyState>
        }
      >
        {(rag) => <SourceRow key={rag.id} rag={rag} />}
      </PagedTable>
      {isCreating && <CreateSourceDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function SourceRow({ rag }: { rag: Rag }) {
  const { label, icon: Icon } = sourceKinds[rag.type];
  const { documents } = rag;
  return (
    <TableRow className="relative">
      <TableCell>
        <span className="flex items-center gap-2.5">
          <span aria-hidden className="grid size-6 shrink-0 place-items-center rounded-md bg-thread-soft text-thread-text">
            <Icon className="size-3.5" />
          </span>
          <Link href={`/knowledge/${rag.id}`} className="min-w-0 font-medium [overflow-wrap:anywhere] after:absolute after:inset-0">
            {rag.name}
          </Link>
        </span>
      </TableCell>
      <TableCell className="text-ink-soft max-sm:hidden">{label}</TableCell>
      <TableCell className="text-ink-soft sm:whitespace-nowrap">
        {documents ? (
          <span className="flex flex-wrap items-center gap-1.5">
            {plural(documents.total, "document")}
            {documents.indexing > 0 && <Badge tone="running">{documents.indexing} indexing</Badge>}
            {documents.failed > 0 && <Badge tone="failed">{documents.failed} failed</Badge>}
          </span>
        ) : (
          "kept in your store"
        )}
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={rag.updated_at} />
      </TableCell>
    </TableRow>
  );
}

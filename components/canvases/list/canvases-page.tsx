"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { CanvasPicture } from "#components/canvases/list/canvas-picture.tsx";
import { plural } from "#components/format.ts";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { NothingMatches, TableLoading } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { CanvasSummary } from "#server/features/canvases/schema.ts";

const RenameCanvasDialog = loadedOnUse(() =>
  import("#components/canvases/rename-canvas-dialog.tsx").then((module) => module.RenameCanvasDialog),
);

const PER_PAGE = 24;

export function CanvasesPage() {
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const router = useRouter();
  const { input, page, setPage, search } = useListSearch(PER_PAGE);
  const [renamed, setRenamed] = useState<CanvasSummary | null>(null);
  const [deleting, setDeleting] = useState<CanvasSummary | null>(null);
  const canvases = useQuery(trpc.canvases.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const remove = useMutation(trpc.canvases.delete.mutationOptions());
  const create = useMutation(
    trpc.canvases.create.mutationOptions({
      onSuccess: ({ id }) => {
        router.push(`/canvases/${id}`);
        void cache.invalidateQueries(trpc.canvases.list.pathFilter());
      },
      onError: (error) => toast.error("No canvas was created", { description: errorBodyOf(error).detail }),
    }),
  );
  const newCanvas = canEdit && (
    <Button
      variant="primary"
      icon={<Plus />}
      // Stays busy while the page of the new one is loading.
      isPending={create.isPending || create.isSuccess}
      onClick={() => create.mutate({ name: "Untitled canvas" })}
    >
      New canvas
    </Button>
  );
  const isFirst = canvases.data?.total === 0 && search.q === "";
  return (
    <Page>
      <PageHeader title="Canvases" actions={canvases.data && !isFirst && newCanvas} />
      <TableLoading query={canvases} label="Loading canvases" />
      {isFirst && (
        <EmptyState title="See what your runs add up to" actions={newCanvas}>
          A canvas shows what the Outputs of your workflows give: numbers, charts, tables and texts that move when a run ends. Each of them
          leads back to the run that it came from.
        </EmptyState>
      )}
      {canvases.data && !isFirst && (
        <>
          <SearchField label="Search canvases" value={search.text} onValueChange={search.setText} className="-mb-2 sm:max-w-72" />
          {canvases.data.total === 0 ? (
            <NothingMatches q={search.q} />
          ) : (
            <ul aria-label="Canvases" className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
              {canvases.data.items.map((canvas) => (
                <CanvasCard key={canvas.id} canvas={canvas} onRename={() => setRenamed(canvas)} onDelete={() => setDeleting(canvas)} />
              ))}
            </ul>
          )}
          <Pager page={page} perPage={PER_PAGE} total={canvases.data.total} onPageChange={setPage} />
        </>
      )}
      {renamed && <RenameCanvasDialog canvas={renamed} onClose={() => setRenamed(null)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete canvas “${deleting.name}”?`}
          confirmLabel="Delete canvas"
          onConfirm={async () => {
            await remove.mutateAsync({ canvas_id: deleting.id });
            toast.success(`Canvas “${deleting.name}” deleted`);
            if (canvases.data?.items.length === 1 && page > 1) setPage(page - 1);
            await cache.invalidateQueries(trpc.canvases.pathFilter());
          }}
        >
          Its widgets are lost for good, and a link by which it was shared stops working. Workflows and runs stay as they are.
        </ConfirmDialog>
      )}
    </Page>
  );
}

interface CanvasCardProps {
  canvas: CanvasSummary;
  onRename: () => void;
  onDelete: () => void;
}

function CanvasCard({ canvas: { id, name, widget_count, updated_at, preview = [] }, onRename, onDelete }: CanvasCardProps) {
  const { canEdit } = useStudio();
  return (
    <li className="relative flex min-w-0 flex-col overflow-hidden rounded-lg border bg-surface transition-colors focus-within:border-thread hover:bg-hover">
      <CanvasPicture widgets={preview} className="border-b bg-sunken" />
      <div className="flex items-start gap-2 p-3">
        <div className="flex min-w-0 flex-1 flex-col gap-0.5">
          <h2 className="min-w-0">
            <Link href={`/canvases/${id}`} className="block truncate rounded-sm font-semibold text-14 after:absolute after:inset-0">
              {name}
            </Link>
          </h2>
          <p className="text-12 text-ink-faint">
            {widget_count === 0 ? "Empty" : plural(widget_count, "widget")} · changed <Time value={updated_at} />
          </p>
        </div>
        {canEdit && (
          <RowMenu of={name} className="-mt-0.5 -mr-1">
            <MenuItem icon={<Pencil />} onSelect={onRename}>
              Rename
            </MenuItem>
            <MenuItem icon={<Trash2 />} tone="danger" onSelect={onDelete}>
              Delete
            </MenuItem>
          </RowMenu>
        )}
      </div>
    </li>
  );
}

"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { FlaskConical, SlidersHorizontal, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { DocumentsPanel } from "#components/knowledge/documents-panel.tsx";
import { SearchPanel } from "#components/knowledge/search-panel.tsx";
import { sourceKinds } from "#components/knowledge/source-kinds.ts";
import { BackLink } from "#components/shell/back-link.tsx";
import { NotFound } from "#components/shell/not-found.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, isMissing, useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { MoreMenu } from "#components/ui/more-menu.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Rag } from "#server/features/knowledge/schema.ts";

const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));
const EditSourceDialog = loadedOnUse(() => import("#components/knowledge/source-dialogs.tsx").then((module) => module.EditSourceDialog));

export function SourcePage({ ragId }: { ragId: string }) {
  const trpc = useTRPC();
  const rag = useQuery(trpc.rags.get.queryOptions({ rag_id: ragId }));
  useTitle(rag.data?.name);
  if (rag.isError && isMissing(rag.error)) return <NotFound what="knowledge source" href="/knowledge" />;
  return (
    <Page>
      {rag.data ? (
        <SourceView rag={rag.data} />
      ) : (
        <PageHeader title={<Skeleton className="my-1.5 h-4 w-40" />} back={<BackLink href="/knowledge">Knowledge</BackLink>} />
      )}
      <LoadFailure query={rag} />
      {rag.isPending && <Skeleton className="h-96" />}
    </Page>
  );
}

/** Where a source leads, in a few words, from its masked settings. */
function whereTo({ type, config }: Rag): string {
  const { label } = sourceKinds[type];
  if ("connection_string" in config) return `${label} · ${config.table} at ${config.connection_string.replace(/^.*@/, "")}`;
  if ("collection" in config) return `${label} · ${config.collection} at ${config.url}`;
  if ("url" in config) return `${label} · ${config.url}`;
  return config.embedding_model === null ? "Searched by words" : `Searched by words and by meaning (${config.embedding_model})`;
}

function SourceView({ rag }: { rag: Rag }) {
  const { trpc, cache } = useApi();
  const router = useRouter();
  const { canEdit } = useStudio();
  const [isEditing, setIsEditing] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const test = useMutation(trpc.rags.test.mutationOptions());
  const remove = useMutation(trpc.rags.delete.mutationOptions());
  return (
    <>
      <PageHeader
        title={rag.name}
        description={whereTo(rag)}
        back={<BackLink href="/knowledge">Knowledge</BackLink>}
        actions={
          canEdit && (
            <>
              <Button icon={<FlaskConical />} isPending={test.isPending} onClick={() => test.mutate({ rag_id: rag.id })}>
                Test
              </Button>
              <Button icon={<SlidersHorizontal />} onClick={() => setIsEditing(true)}>
                Settings
              </Button>
              <MoreMenu>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setIsDeleting(true)}>
                  Delete source
                </MenuItem>
              </MoreMenu>
            </>
          )
        }
      />
      {test.isError && <Notice tone="failed">{errorBodyOf(test.error).detail}</Notice>}
      {test.data && !test.isPending && (
        <Notice tone={test.data.ok ? "complete" : "failed"} title={test.data.ok ? "The source works" : "The source does not work"}>
          {test.data.message}
        </Notice>
      )}
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(320px,400px)]">
        {rag.type === "documents" ? (
          <DocumentsPanel rag={rag} />
        ) : (
          <Notice title="Its documents are kept in your store">
            Agents search it where it is; nothing is copied. Test says what is there, and the search shows what an agent would find.
          </Notice>
        )}
        <SearchPanel rag={rag} />
      </div>
      {isEditing && <EditSourceDialog rag={rag} onClose={() => setIsEditing(false)} onSaved={() => test.reset()} />}
      {isDeleting && (
        <ConfirmDialog
          onClose={() => setIsDeleting(false)}
          title={`Delete source “${rag.name}”?`}
          confirmLabel="Delete source"
          onConfirm={async () => {
            await remove.mutateAsync({ rag_id: rag.id });
            toast.success(`Source “${rag.name}” deleted`);
            router.replace("/knowledge");
            await cache.invalidateQueries(trpc.rags.list.pathFilter());
          }}
        >
          {rag.type === "documents" ? "Its documents are deleted with it." : "What lies in your store stays there."} A source that an agent
          uses cannot be deleted.
        </ConfirmDialog>
      )}
    </>
  );
}

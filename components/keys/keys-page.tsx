"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { PRICES_PLACE } from "#components/runs/cost.tsx";
import { Page } from "#components/shell/page.tsx";
import { SpentLine } from "#components/shell/spent-line.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { LlmKey } from "#server/features/llm-keys/schema.ts";
import { providerIds, providerKind } from "#server/llm/kinds.ts";

const AddKeyDialog = loadedOnUse(() => import("#components/keys/key-dialogs.tsx").then((module) => module.AddKeyDialog));
const ReplaceKeyDialog = loadedOnUse(() => import("#components/keys/key-dialogs.tsx").then((module) => module.ReplaceKeyDialog));

const PROVIDERS = new Intl.ListFormat("en-GB").format(providerIds.map((id) => providerKind(id).label));

export function KeysPage() {
  const { trpc, cache } = useApi();
  const { canAdminister, project } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const [isAdding, setIsAdding] = useState(false);
  const [deleting, setDeleting] = useState<LlmKey | null>(null);
  const [replaced, setReplaced] = useState<LlmKey | null>(null);
  const keys = useQuery(trpc.llmKeys.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const remove = useMutation(trpc.llmKeys.delete.mutationOptions());

  const add = canAdminister && (
    <Button variant="primary" icon={<Plus />} onClick={() => setIsAdding(true)}>
      Add key
    </Button>
  );
  const readOnlyReason = `Only admins of ${project.name} add, replace or delete keys; you are ${project.role}.`;

  return (
    <Page>
      <PageHeader
        title="LLM keys"
        description={`Your own provider keys; agents call models with them. ${canAdminister ? "" : readOnlyReason}`}
        actions={keys.data && (keys.data.total > 0 || search.q) ? add : undefined}
      />
      <PagedTable
        label="LLM keys"
        className="md:min-w-150"
        loadingLabel="Loading keys"
        query={keys}
        search={search}
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader>Provider</TableHeader>
            <TableHeader className="max-md:hidden">Key</TableHeader>
            <TableHeader className="max-md:hidden">Added</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={
          <EmptyState title="Add a key of your model provider" actions={add}>
            Treadle calls models on your account, so nothing runs without a key. Supported are {PROVIDERS} endpoints, your own server
            included.
            {!canAdminister && <span className="mt-2 block">{readOnlyReason}</span>}
          </EmptyState>
        }
      >
        {(key) => (
          <TableRow key={key.id}>
            <TableCell className="font-semibold">
              {key.name}
              <span className="block whitespace-nowrap font-mono font-normal text-12 text-ink-faint md:hidden">{key.masked_key}</span>
              <SpentLine scope="llm_key" id={key.id} ids={keys.data?.items.map(({ id }) => id) ?? []} className="font-normal" />
            </TableCell>
            <TableCell>
              {providerKind(key.provider).label}
              {key.prices.length > 0 && (
                <Link href={PRICES_PLACE} className="block w-fit text-12 text-ink-faint underline-offset-2 hover:underline">
                  {plural(key.prices.length, "price")} of its own
                </Link>
              )}
              {key.base_url && (
                <span className="block max-w-64 truncate font-mono max-md:max-w-28 text-12 text-ink-faint">{key.base_url}</span>
              )}
            </TableCell>
            <TableCell className="font-mono text-12 text-ink-soft max-md:hidden">{key.masked_key}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Time value={key.created_at} />
            </TableCell>
            <TableCell className="w-10">
              {canAdminister && (
                <RowMenu of={key.name}>
                  <MenuItem icon={<KeyRound />} onSelect={() => setReplaced(key)}>
                    Replace value
                  </MenuItem>
                  <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setDeleting(key)}>
                    Delete
                  </MenuItem>
                </RowMenu>
              )}
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {replaced && <ReplaceKeyDialog llmKey={replaced} onClose={() => setReplaced(null)} />}
      {isAdding && <AddKeyDialog onClose={() => setIsAdding(false)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete key “${deleting.name}”?`}
          confirmLabel="Delete key"
          onConfirm={async () => {
            await remove.mutateAsync({ key_id: deleting.id });
            await cache.invalidateQueries(trpc.llmKeys.list.pathFilter());
            toast.success(`Key “${deleting.name}” deleted`);
          }}
        >
          Agents can no longer use it. The key stays valid at the provider: revoke it there if it leaked.
        </ConfirmDialog>
      )}
    </Page>
  );
}

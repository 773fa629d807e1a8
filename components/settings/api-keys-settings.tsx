"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { toast } from "sonner";
import { CreateApiKeyDialog } from "#components/settings/create-api-key-dialog.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Table, TableActionsHeader, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { TableLoading } from "#components/ui/table-loading.tsx";
import { Time } from "#components/ui/time.tsx";
import type { PlatformKey } from "#server/schemas/platform-key.ts";

const PER_PAGE = 50;

export function ApiKeysSettings() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [page, setPage] = useState(1);
  const [isCreating, setIsCreating] = useState(false);
  const [doomed, setDoomed] = useState<PlatformKey | null>(null);
  const keys = useQuery(trpc.platformKeys.list.queryOptions({ page, per_page: PER_PAGE }));
  const remove = useMutation(trpc.platformKeys.delete.mutationOptions());
  const create = (
    <Button variant="primary" icon={<Plus />} onClick={() => setIsCreating(true)}>
      Create API key
    </Button>
  );
  return (
    <SettingsSection
      title="API keys"
      description="Yours alone: a key may do what you may, in every project you are in."
      action={keys.data && keys.data.total > 0 && create}
    >
      <TableLoading query={keys} label="Loading API keys" rows={3} />
      {keys.data?.total === 0 && (
        <EmptyState
          size="panel"
          title="Drive Treadle from your own programs"
          actions={
            <>
              {create}
              <Link href="/docs/rest" className="text-13 text-thread-text underline underline-offset-2">
                REST with curl
              </Link>
            </>
          }
        >
          Start a workflow from anywhere over REST, follow its run and read the result.
        </EmptyState>
      )}
      {keys.data && keys.data.items.length > 0 && (
        <>
          <Table label="API keys" className="md:min-w-120">
            <TableHead>
              <tr>
                <TableHeader>Name</TableHeader>
                <TableHeader className="max-md:hidden">Created</TableHeader>
                <TableHeader>Last used</TableHeader>
                <TableActionsHeader />
              </tr>
            </TableHead>
            <TableBody>
              {keys.data.items.map((key) => (
                <TableRow key={key.id}>
                  <TableCell className="font-medium">{key.name}</TableCell>
                  <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
                    <Time value={key.created_at} />
                  </TableCell>
                  <TableCell className="whitespace-nowrap text-ink-soft">
                    {key.last_used_at ? <Time value={key.last_used_at} /> : "never"}
                  </TableCell>
                  <TableCell className="w-10">
                    <IconButton label={`Delete ${key.name}`} icon={<Trash2 />} onClick={() => setDoomed(key)} />
                  </TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
          <Pager page={page} perPage={PER_PAGE} total={keys.data.total} onPageChange={setPage} />
        </>
      )}
      <CreateApiKeyDialog open={isCreating} onOpenChange={setIsCreating} />
      <ConfirmDialog
        open={doomed !== null}
        onOpenChange={(open) => !open && setDoomed(null)}
        title={`Delete API key “${doomed?.name}”?`}
        confirmLabel="Delete key"
        onConfirm={async () => {
          if (!doomed) return;
          await remove.mutateAsync({ key_id: doomed.id });
          await cache.invalidateQueries(trpc.platformKeys.list.pathFilter());
          toast.success(`API key “${doomed.name}” deleted`);
        }}
      >
        Programs that send it are refused from now on.
      </ConfirmDialog>
    </SettingsSection>
  );
}

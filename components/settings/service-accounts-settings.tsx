"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { roleLabel } from "#components/settings/member-words.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ServiceAccount } from "#server/features/service-accounts/schema.ts";

const ServiceAccountDialog = loadedOnUse(() =>
  import("#components/settings/service-account-dialogs.tsx").then(({ ServiceAccountDialog }) => ServiceAccountDialog),
);
const ServiceKeysDialog = loadedOnUse(() =>
  import("#components/settings/service-account-dialogs.tsx").then(({ ServiceKeysDialog }) => ServiceKeysDialog),
);

/** Programs that work in the project in their own name. */
export function ServiceAccountsSettings() {
  const { canAdminister, project } = useStudio();
  if (!canAdminister)
    return (
      <SettingsSection title="Service accounts">
        <Notice>Only admins see these; you are {project.role} in this project.</Notice>
      </SettingsSection>
    );
  return <ServiceAccounts />;
}

function ServiceAccounts() {
  const { trpc, cache } = useApi();
  const [page, setPage] = useState(1);
  const [editing, setEditing] = useState<ServiceAccount | "new" | null>(null);
  const [keysOf, setKeysOf] = useState<ServiceAccount | null>(null);
  const [deleting, setDeleting] = useState<ServiceAccount | null>(null);
  const accounts = useQuery(trpc.serviceAccounts.list.queryOptions({ page, per_page: PER_PAGE }));
  const remove = useMutation(trpc.serviceAccounts.delete.mutationOptions());
  const create = (
    <Button variant="primary" icon={<Plus />} onClick={() => setEditing("new")}>
      Create service account
    </Button>
  );
  return (
    <SettingsSection
      title="Service accounts"
      description="Each has its own name and role. Its API keys keep working when the person who created them leaves."
      action={accounts.data && accounts.data.total > 0 && create}
    >
      <PagedTable
        label="Service accounts"
        query={accounts}
        loadingLabel="Loading service accounts"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader>Role</TableHeader>
            <TableHeader className="max-md:hidden">Keys</TableHeader>
            <TableHeader className="max-md:hidden">Last used</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={
          <EmptyState size="panel" title="No service accounts yet" actions={create}>
            For a job or another system: its runs and changes carry its name, and it goes on when people leave.
          </EmptyState>
        }
      >
        {(account) => (
          <TableRow key={account.id}>
            <TableCell className="py-1.5">
              <span className="block break-words font-semibold">{account.name}</span>
              <span className="block break-all text-12 text-ink-faint">{account.email}</span>
            </TableCell>
            <TableCell>{roleLabel(account.role)}</TableCell>
            <TableCell className="tabular-nums text-ink-soft max-md:hidden">{account.keys}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              {account.last_used_at ? <Time value={account.last_used_at} /> : "never"}
            </TableCell>
            <TableCell className="w-10">
              <RowMenu of={account.name}>
                <MenuItem icon={<KeyRound />} onSelect={() => setKeysOf(account)}>
                  API keys
                </MenuItem>
                <MenuItem icon={<Pencil />} onSelect={() => setEditing(account)}>
                  Edit
                </MenuItem>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setDeleting(account)}>
                  Delete
                </MenuItem>
              </RowMenu>
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {editing && (
        <ServiceAccountDialog
          account={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
          onCreated={(account) => {
            setEditing(null);
            setKeysOf(account);
          }}
        />
      )}
      {keysOf && <ServiceKeysDialog account={keysOf} onClose={() => setKeysOf(null)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete ${deleting.name}?`}
          confirmLabel="Delete"
          onConfirm={async () => {
            await remove.mutateAsync({ account_id: deleting.id });
            await cache.invalidateQueries(trpc.serviceAccounts.pathFilter());
            toast.success(`${deleting.name} was deleted`);
          }}
        >
          Programs that send a key of it are refused from now on. What it did keeps its name.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}

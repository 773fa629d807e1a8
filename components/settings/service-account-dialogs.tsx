"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { Expiry, KeyPrefix, LastUse } from "#components/settings/api-keys-settings.tsx";
import { CreateApiKeyDialog } from "#components/settings/create-api-key-dialog.tsx";
import { roleOptions } from "#components/settings/member-words.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { Select } from "#components/ui/select.tsx";
import { PagedTable, PER_PAGE, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateServiceAccountInput, type ServiceAccount } from "#server/features/service-accounts/schema.ts";
import type { PlatformKey } from "#server/platform/auth/platform-key-schema.ts";

type ServiceRole = ServiceAccount["role"];
const roles = roleOptions.flatMap(({ value, ...words }) => (value === "admin" ? [] : [{ value: value as ServiceRole, ...words }]));

interface ServiceAccountDialogProps {
  /** Null makes a new one. */
  account: ServiceAccount | null;
  onClose: () => void;
  onCreated: (account: ServiceAccount) => void;
}

/** Name and role of a service account. */
export function ServiceAccountDialog({ account, onClose, onCreated }: ServiceAccountDialogProps) {
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: CreateServiceAccountInput,
    initial: { name: account?.name ?? "", role: account?.role ?? "editor" },
    submit: async (value) => {
      if (account) await client.serviceAccounts.update.mutate({ account_id: account.id, ...value });
      const created = account ? null : await client.serviceAccounts.create.mutate(value);
      await cache.invalidateQueries(trpc.serviceAccounts.pathFilter());
      if (created) return onCreated(created);
      toast.success("Saved");
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={account ? `Edit ${account.name}` : "Create service account"}
      size="sm"
      form={form}
      submitLabel={account ? "Save" : "Create"}
    >
      <FormField
        form={form}
        name="name"
        hint="What it is for: runs and the audit log show it."
        placeholder="Nightly report"
        autoFocus
        autoComplete="off"
      />
      <FormField form={form} name="role" label="Role" hint={null}>
        <Select value={form.values.role} onValueChange={(role) => form.set("role", role)} options={roles} />
      </FormField>
    </FormDialog>
  );
}

/** The API keys of a service account. */
export function ServiceKeysDialog({ account, onClose }: { account: ServiceAccount; onClose: () => void }) {
  const { trpc, cache } = useApi();
  const [page, setPage] = useState(1);
  const [isCreating, setIsCreating] = useState(false);
  const [deleting, setDeleting] = useState<PlatformKey | null>(null);
  const keys = useQuery(trpc.serviceAccounts.keys.queryOptions({ account_id: account.id, page, per_page: PER_PAGE }));
  const remove = useMutation(trpc.serviceAccounts.deleteKey.mutationOptions());
  if (isCreating) return <CreateApiKeyDialog account={account} onClose={() => setIsCreating(false)} />;
  return (
    <Dialog onClose={onClose} title={`API keys of ${account.name}`} size="lg">
      <PagedTable
        label="API keys"
        query={keys}
        loadingLabel="Loading API keys"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-md:hidden">May</TableHeader>
            <TableHeader>Expires</TableHeader>
            <TableHeader>Last used</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={<p className="rounded-lg border p-4 text-14 text-ink-soft">It has no key yet, so nothing can call as it.</p>}
      >
        {(key) => (
          <TableRow key={key.id}>
            <TableCell className="py-1.5">
              <span className="block break-words font-semibold">{key.name}</span>
              <KeyPrefix prefix={key.prefix} />
            </TableCell>
            <TableCell className="text-ink-soft max-md:hidden">{key.scopes.join(", ")}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft">
              <Expiry value={key.expires_at} />
            </TableCell>
            <TableCell className="py-1.5 text-ink-soft">
              <LastUse {...key} />
            </TableCell>
            <TableCell className="w-10">
              <RowMenu of={key.name}>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setDeleting(key)}>
                  Delete
                </MenuItem>
              </RowMenu>
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      <DialogFooter>
        <Button icon={<Plus />} variant="primary" onClick={() => setIsCreating(true)}>
          Create API key
        </Button>
      </DialogFooter>
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete API key “${deleting.name}”?`}
          confirmLabel="Delete key"
          onConfirm={async () => {
            await remove.mutateAsync({ account_id: account.id, key_id: deleting.id });
            await cache.invalidateQueries(trpc.serviceAccounts.pathFilter());
            toast.success(`API key “${deleting.name}” deleted`);
          }}
        >
          Programs that send it are refused from now on.
        </ConfirmDialog>
      )}
    </Dialog>
  );
}

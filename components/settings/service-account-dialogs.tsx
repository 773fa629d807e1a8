"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { ApiKeyTable } from "#components/settings/api-key-table.tsx";
import { CreateApiKeyDialog } from "#components/settings/create-api-key-dialog.tsx";
import { roleOptions } from "#components/settings/member-words.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { Select } from "#components/ui/select.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateServiceAccountInput, type ServiceAccount } from "#server/features/service-accounts/schema.ts";

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
  const keys = useQuery(trpc.serviceAccounts.keys.queryOptions({ account_id: account.id, page, per_page: PER_PAGE }));
  const remove = useMutation(trpc.serviceAccounts.deleteKey.mutationOptions());
  if (isCreating) return <CreateApiKeyDialog account={account} onClose={() => setIsCreating(false)} />;
  return (
    <Dialog onClose={onClose} title={`API keys of ${account.name}`} size="lg">
      <ApiKeyTable
        query={keys}
        page={page}
        onPageChange={setPage}
        empty={<p className="rounded-lg border p-4 text-14 text-ink-soft">It has no key yet, so nothing can call as it.</p>}
        mayOf={({ scopes }) => scopes.join(", ")}
        onDelete={async ({ id: key_id }) => {
          await remove.mutateAsync({ account_id: account.id, key_id });
          await cache.invalidateQueries(trpc.serviceAccounts.pathFilter());
        }}
      />
      <DialogFooter>
        <Button icon={<Plus />} variant="primary" onClick={() => setIsCreating(true)}>
          Create API key
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

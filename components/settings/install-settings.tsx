"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { UserMinus, UserPlus } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { InstallMail } from "#components/settings/install-mail.tsx";
import { InstallPeople } from "#components/settings/install-people.tsx";
import { InstallProxy } from "#components/settings/install-proxy.tsx";
import { nameAdminForm } from "#components/settings/settings-form.gen.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Input } from "#components/ui/input.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { InstallAdmin } from "#server/features/install/schema.ts";

/** Install admins, accounts, the state of the mail server and the proxy of outgoing requests. */
export function InstallSettings() {
  return (
    <>
      <InstallAdmins />
      <InstallPeople />
      <InstallMail />
      <InstallProxy />
    </>
  );
}

function InstallAdmins() {
  const { trpc, cache } = useApi();
  const { user } = useStudio();
  const [page, setPage] = useState(1);
  const [isNaming, setIsNaming] = useState(false);
  const [leaving, setLeaving] = useState<InstallAdmin | null>(null);
  const admins = useQuery(trpc.install.admins.queryOptions({ page, per_page: PER_PAGE }));
  const remove = useMutation(trpc.install.removeAdmin.mutationOptions());
  return (
    <SettingsSection
      title="Install admins"
      description="They alone may save endpoints on this machine and its networks: models, MCP servers, knowledge sources."
      action={
        !admins.isError && (
          <Button variant="primary" icon={<UserPlus />} onClick={() => setIsNaming(true)}>
            Name admin
          </Button>
        )
      }
    >
      <PagedTable
        label="Install admins"
        className="md:min-w-120"
        query={admins}
        loadingLabel="Loading install admins"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-md:hidden">Account made</TableHeader>
            <TableActionsHeader />
          </>
        }
      >
        {(admin) => (
          <TableRow key={admin.user_id}>
            <TableCell className="py-1.5">
              <span className="block font-semibold">
                {admin.name}
                {admin.user_id === user.id && <span className="ml-1.5 font-normal text-12 text-ink-faint">you</span>}
              </span>
              <span className="block break-all text-12 text-ink-faint">{admin.email}</span>
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Time value={admin.created_at} />
            </TableCell>
            <TableCell className="w-10">
              <RowMenu of={admin.name}>
                <MenuItem icon={<UserMinus />} tone="danger" onSelect={() => setLeaving(admin)}>
                  Remove
                </MenuItem>
              </RowMenu>
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {isNaming && <NameInstallAdminDialog onClose={() => setIsNaming(false)} />}
      {leaving && (
        <ConfirmDialog
          onClose={() => setLeaving(null)}
          title={leaving.user_id === user.id ? "Stop being an install admin?" : `Take the install from ${leaving.name}?`}
          confirmLabel="Remove"
          onConfirm={async () => {
            await remove.mutateAsync({ user_id: leaving.user_id });
            if (leaving.user_id === user.id) return location.assign("/settings");
            await cache.invalidateQueries(trpc.install.admins.pathFilter());
            toast.success(`${leaving.name} is no install admin any more`);
          }}
        >
          The private addresses that {leaving.user_id === user.id ? "you" : "they"} saved go on working.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}

/** Makes somebody who has an account here an admin of the install. */
function NameInstallAdminDialog({ onClose }: { onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: nameAdminForm,
    initial: { email: "" },
    submit: async (value) => {
      const { name } = await client.install.nameAdmin.mutate(value);
      await cache.invalidateQueries(trpc.install.admins.pathFilter());
      toast.success(`${name} is an install admin now`);
      onClose();
    },
  });
  const { accept_unverified } = form.values;
  const isUnverified = form.errorOf("accept_unverified") !== undefined || accept_unverified !== undefined;
  return (
    <FormDialog
      onClose={onClose}
      title="Name an install admin"
      size="sm"
      form={form}
      submitLabel="Name admin"
      disabled={isUnverified && accept_unverified !== true}
    >
      <FormField form={form} name="email" hint="Of an account here that you know to be theirs. They may name others, too.">
        <Input
          type="email"
          value={form.values.email}
          // What was said of one account says nothing of another.
          onChange={(event) => {
            form.set("email", event.target.value);
            form.set("accept_unverified", undefined);
          }}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          autoFocus
        />
      </FormField>
      {isUnverified && (
        <Notice tone="waiting" title="This address is not verified">
          Someone else may have created the account, so ask the person first.
          <Checkbox
            label="I know that this account is theirs"
            className="mt-2"
            checked={accept_unverified === true}
            onCheckedChange={(accepted) => form.set("accept_unverified", accepted)}
          />
        </Notice>
      )}
    </FormDialog>
  );
}

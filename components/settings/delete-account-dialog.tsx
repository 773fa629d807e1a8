"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormFailure } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { type AccountDeletion, DeleteAccountInput } from "#server/features/identity/schema.ts";

/** What the deletion comes to, and the deletion. */
export function DeleteAccountDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Delete your account?" size="sm">
      <Consequences onCancel={onClose} />
    </Dialog>
  );
}

function Consequences({ onCancel }: { onCancel: () => void }) {
  const trpc = useTRPC();
  const deletion = useQuery(trpc.identity.accountDeletion.queryOptions({}, { staleTime: 0, gcTime: 0 }));
  if (deletion.isError) return <LoadFailure query={deletion} />;
  if (deletion.isPending) return <Skeleton className="h-24" />;
  return <DeleteForm deletion={deletion.data} onCancel={onCancel} />;
}

function Names({ projects }: { projects: readonly { id: string; name: string }[] }) {
  return (
    <ul className="mt-1 list-disc pl-4">
      {projects.map(({ id, name }) => (
        <li key={id} className="break-words font-semibold text-ink">
          {name}
        </li>
      ))}
    </ul>
  );
}

function DeleteForm({ deletion, onCancel }: { deletion: AccountDeletion; onCancel: () => void }) {
  const { has_password, alone, last_admin, shared } = deletion;
  const client = useTRPCClient();
  const [isSure, setIsSure] = useState(alone.length === 0);
  const form = useForm({
    schema: DeleteAccountInput,
    initial: { delete_projects: true, ...(has_password ? { password: "" } : {}) },
    submit: async (value) => {
      await client.identity.deleteAccount.mutate(value);
      location.assign("/sign-in");
    },
  });
  if (last_admin.length > 0)
    return (
      <>
        <Notice tone="failed" title="Make someone else an admin first">
          Others work in these projects, and you are their last admin:
          <Names projects={last_admin} />
          Open Settings, Members there and make another member admin, or delete the project.
        </Notice>
        <DialogFooter>
          <Button variant="primary" onClick={onCancel}>
            Close
          </Button>
        </DialogFooter>
      </>
    );
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4 text-14 text-ink-soft">
      <p>This cannot be undone. Every session and API key of yours ends, and your e-mail address is free again.</p>
      {alone.length > 0 && (
        <div>
          These projects have no other members. They are deleted with their workflows, agents, runs and keys:
          <Names projects={alone} />
        </div>
      )}
      {shared.length > 0 && (
        <div>
          These go on without you. What you did there stays with your name:
          <Names projects={shared} />
        </div>
      )}
      {alone.length > 0 && (
        <Checkbox
          label={alone.length === 1 ? "Delete this project too" : `Delete these ${alone.length} projects too`}
          checked={isSure}
          onCheckedChange={setIsSure}
        />
      )}
      {has_password ? (
        <FormField form={form} name="password" label="Your password" hint={null} type="password" autoComplete="current-password" />
      ) : (
        <FormField
          form={form}
          name="confirm_email"
          label="Your e-mail address"
          hint="Type it to confirm."
          type="email"
          autoComplete="off"
        />
      )}
      <FormFailure failure={form.failure} />
      <DialogFooter>
        <Button onClick={onCancel} disabled={form.isPending}>
          Cancel
        </Button>
        <Button type="submit" variant="danger" isPending={form.isPending} disabled={!isSure}>
          Delete account
        </Button>
      </DialogFooter>
    </form>
  );
}

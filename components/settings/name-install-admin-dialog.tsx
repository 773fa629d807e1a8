"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { NameInstallAdminInput } from "#server/features/install/schema.ts";

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Makes somebody who has an account here an admin of the install. */
export function NameInstallAdminDialog({ open, onOpenChange }: DialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Name an install admin" size="sm">
      <NameForm onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

function NameForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const form = useForm({
    schema: NameInstallAdminInput,
    initial: { email: "" },
    submit: async (value) => {
      const { name } = await client.install.nameAdmin.mutate(value);
      await cache.invalidateQueries(trpc.install.admins.pathFilter());
      toast.success(`${name} is an install admin now`);
      onDone();
    },
  });
  const { accept_unverified } = form.values;
  const isUnverified = form.errorOf("accept_unverified") !== undefined || accept_unverified !== undefined;
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
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
          Anybody may have made the account, so ask the person first.
          <Checkbox
            label="I know that this account is theirs"
            className="mt-2"
            checked={accept_unverified === true}
            onCheckedChange={(accepted) => form.set("accept_unverified", accepted)}
          />
        </Notice>
      )}
      <FormFooter form={form} disabled={isUnverified && accept_unverified !== true}>
        Name admin
      </FormFooter>
    </form>
  );
}

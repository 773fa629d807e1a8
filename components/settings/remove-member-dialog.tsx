"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Member } from "#server/features/projects/schema.ts";

interface RemoveMemberDialogProps {
  member: z.infer<typeof Member>;
  onClose: () => void;
  onRemoved: () => Promise<unknown>;
}

/** Most service accounts of a project. */
const MOST = 50;

/** Asks before a member is removed, or leaves, and what becomes of the service accounts that the member created. */
export function RemoveMemberDialog({ member: { user_id, name }, onClose, onRemoved }: RemoveMemberDialogProps) {
  const trpc = useTRPC();
  const { user, project } = useStudio();
  const [service_accounts, setServiceAccounts] = useState<"keep" | "end">("keep");
  const accounts = useQuery(trpc.serviceAccounts.list.queryOptions({ page: 1, per_page: MOST }));
  const remove = useMutation(trpc.projects.removeMember.mutationOptions());
  const isSelf = user_id === user.id;
  const created = accounts.data?.items.filter(({ created_by_id }) => created_by_id === user_id) ?? [];
  return (
    <ConfirmDialog
      onClose={onClose}
      title={isSelf ? `Leave ${project.name}?` : `Remove ${name}?`}
      confirmLabel={isSelf ? "Leave project" : "Remove"}
      isReady={!accounts.isPending}
      onConfirm={async () => {
        await remove.mutateAsync({ project_id: project.id, user_id, service_accounts });
        if (isSelf) return location.assign("/");
        toast.success(`${name} was removed`);
        await onRemoved();
      }}
    >
      {isSelf ? "You" : name} can no longer open this project, neither here nor with an API key. Invitations that {isSelf ? "you" : name}{" "}
      sent and that are not accepted yet end. Workflows and agents stay.
      {created.length > 0 && (
        <fieldset className="mt-3 flex flex-col gap-1.5">
          <legend className="pb-1 font-semibold text-ink">Service accounts created by {isSelf ? "you" : name}</legend>
          <ul className="list-disc break-words pb-1 pl-5">
            {created.map(({ id, name: account }) => (
              <li key={id}>{account}</li>
            ))}
          </ul>
          <Choice value="keep" chosen={service_accounts} onChoose={setServiceAccounts}>
            Keep them and their API keys
          </Choice>
          <Choice value="end" chosen={service_accounts} onChoose={setServiceAccounts}>
            End them and their API keys
          </Choice>
        </fieldset>
      )}
    </ConfirmDialog>
  );
}

interface ChoiceProps {
  value: "keep" | "end";
  chosen: "keep" | "end";
  onChoose: (value: "keep" | "end") => void;
  children: string;
}

function Choice({ value, chosen, onChoose, children }: ChoiceProps) {
  return (
    <label className="flex items-center gap-2 text-ink pointer-coarse:min-h-11">
      <input type="radio" name="service-accounts" checked={chosen === value} onChange={() => onChoose(value)} />
      {children}
    </label>
  );
}

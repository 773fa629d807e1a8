"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { UserMinus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import type { z } from "zod";
import { formatDate } from "#components/format.ts";
import { madeThrough } from "#components/settings/account-words.ts";
import { roleLabel } from "#components/settings/roles.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Table, TableActionsHeader, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import type { PendingInvitation } from "#server/features/projects/schema.ts";

type Pending = z.infer<typeof PendingInvitation>;

/** Who is invited to the project and has not answered. */
export function PendingInvitations({ onWithdrawn }: { onWithdrawn: () => Promise<unknown> }) {
  const trpc = useTRPC();
  const { project } = useStudio();
  const [doomed, setDoomed] = useState<Pending | null>(null);
  const pending = useQuery(trpc.projects.invitations.queryOptions({ project_id: project.id }));
  const remove = useMutation(trpc.projects.removeMember.mutationOptions());
  if (!pending.data?.length) return null;
  return (
    <>
      <h3 className="mt-2 font-semibold text-13">Invited</h3>
      <Table label="Invited" className="md:min-w-130">
        <TableHead>
          <tr>
            <TableHeader>E-mail</TableHeader>
            <TableHeader>Role</TableHeader>
            <TableHeader className="max-md:hidden">Until</TableHeader>
            <TableActionsHeader />
          </tr>
        </TableHead>
        <TableBody>
          {pending.data.map((invitation) => (
            <TableRow key={invitation.id}>
              <TableCell className="py-1.5">
                <span className="block break-all font-medium">{invitation.email}</span>
                <span className="block text-12 text-ink-faint">
                  <State {...invitation} />
                </span>
              </TableCell>
              <TableCell className="w-36">{roleLabel(invitation.role)}</TableCell>
              <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
                {invitation.was_member ? "no end" : <Time value={invitation.expires_at} />}
              </TableCell>
              <TableCell className="w-10">
                <IconButton label={`Withdraw ${invitation.email}`} icon={<UserMinus />} onClick={() => setDoomed(invitation)} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
      <ConfirmDialog
        open={doomed !== null}
        onOpenChange={(open) => !open && setDoomed(null)}
        title={`Withdraw the invitation of ${doomed?.email}?`}
        confirmLabel="Withdraw"
        onConfirm={async () => {
          if (!doomed) return;
          await remove.mutateAsync({ project_id: project.id, email: doomed.email });
          toast.success(`${doomed.email} is no longer invited`);
          await Promise.all([pending.refetch(), onWithdrawn()]);
        }}
      >
        The link that was handed over or sent opens nothing any more.
      </ConfirmDialog>
    </>
  );
}

function State({ account, was_member }: Pending) {
  if (was_member)
    return "Was a member until the account got a new password through an invitation elsewhere. Invite again once you know who has it.";
  if (!account) return "No account yet";
  if (account.verified) return "Is asked in the app";
  return `Not verified, made on ${formatDate(account.created_at)}${madeThrough(account)}`;
}

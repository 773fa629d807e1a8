"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { Send, UserMinus, UserPlus } from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import type { z } from "zod";
import { roleLabel, roleOptions } from "#components/settings/member-words.ts";
import { RemoveMemberDialog } from "#components/settings/remove-member-dialog.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { errorBodyOf, useApi, useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { Select } from "#components/ui/select.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Member, PendingInvitation, SetMemberResult } from "#server/features/projects/schema.ts";

const InviteDialog = loadedOnUse(() => import("#components/settings/invite-dialog.tsx").then((module) => module.InviteDialog));

type MemberRow = z.infer<typeof Member>;

export function MembersSettings() {
  const { trpc, cache } = useApi();
  const router = useRouter();
  const { project, user, canAdminister } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const [isInviting, setIsInviting] = useState(useSearchParams().has("invite") && canAdminister);
  const [leaving, setLeaving] = useState<MemberRow | null>(null);
  const members = useQuery(trpc.projects.members.queryOptions({ project_id: project.id, ...input }, { placeholderData: keepPreviousData }));
  const refresh = async () => {
    await cache.invalidateQueries(trpc.projects.members.pathFilter());
    // One's own role decides what the whole studio shows.
    router.refresh();
  };
  const setRole = useMutation(
    trpc.projects.setMember.mutationOptions({
      onError: (error) => toast.error("The role was not changed", { description: errorBodyOf(error).detail }),
      onSuccess: ({ email, role }) => toast.success(`${email} is ${roleLabel(role).toLowerCase()} now`),
      onSettled: refresh,
    }),
  );
  return (
    <SettingsSection
      title="Members"
      description={canAdminister ? undefined : "Admins of the project invite and remove people."}
      action={
        canAdminister && (
          <Button variant="primary" icon={<UserPlus />} onClick={() => setIsInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      <PagedTable
        label="Members"
        className="md:min-w-130"
        query={members}
        search={search}
        loadingLabel="Loading members"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader>Role</TableHeader>
            <TableHeader className="max-md:hidden">Joined</TableHeader>
            <TableActionsHeader />
          </>
        }
      >
        {(member) => (
          <TableRow key={member.user_id}>
            <TableCell className="py-1.5">
              <span className="block font-semibold">
                {member.name}
                {member.user_id === user.id && <span className="ml-1.5 font-normal text-12 text-ink-faint">you</span>}
              </span>
              <span className="block text-12 text-ink-faint break-all">{member.email}</span>
            </TableCell>
            <TableCell className="w-36">
              {canAdminister ? (
                <Select
                  size="sm"
                  aria-label={`Role of ${member.name}`}
                  value={setRole.isPending && setRole.variables.email === member.email ? setRole.variables.role : member.role}
                  onValueChange={(role) => setRole.mutate({ project_id: project.id, email: member.email, role })}
                  options={roleOptions}
                  disabled={setRole.isPending}
                />
              ) : (
                roleLabel(member.role)
              )}
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Time value={member.created_at} />
            </TableCell>
            <TableCell className="w-10">
              {canAdminister && (
                <RowMenu of={member.name}>
                  <MenuItem icon={<UserMinus />} tone="danger" onSelect={() => setLeaving(member)}>
                    {member.user_id === user.id ? "Leave the project" : "Remove"}
                  </MenuItem>
                </RowMenu>
              )}
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {canAdminister && <PendingInvitations onWithdrawn={refresh} />}
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
      {leaving && <RemoveMemberDialog member={leaving} onClose={() => setLeaving(null)} onRemoved={refresh} />}
    </SettingsSection>
  );
}

/** Who is invited to the project and has not answered. */
export function PendingInvitations({ onWithdrawn }: { onWithdrawn: () => Promise<unknown> }) {
  const trpc = useTRPC();
  const { project } = useStudio();
  const [page, setPage] = useState(1);
  const [deleting, setDeleting] = useState<PendingInvitation | null>(null);
  const [sent, setSent] = useState<z.infer<typeof SetMemberResult> | null>(null);
  const pending = useQuery(trpc.projects.invitations.queryOptions({ project_id: project.id, page, per_page: PER_PAGE }));
  const withdraw = useMutation(trpc.projects.withdrawInvitation.mutationOptions());
  const resend = useMutation(
    trpc.projects.resendInvitation.mutationOptions({
      onSuccess: setSent,
      onError: (error) => toast.error("The invitation was not sent again", { description: errorBodyOf(error).detail }),
      onSettled: () => pending.refetch(),
    }),
  );
  if (!pending.data?.total) return null;
  return (
    <>
      <h3 className="mt-2 font-semibold text-14">Invited</h3>
      <PagedTable
        label="Invited"
        className="md:min-w-130"
        query={pending}
        loadingLabel="Loading invitations"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>E-mail</TableHeader>
            <TableHeader>Role</TableHeader>
            <TableHeader className="max-md:hidden">Until</TableHeader>
            <TableActionsHeader />
          </>
        }
      >
        {(invitation) => (
          <TableRow key={invitation.id}>
            <TableCell className="py-1.5">
              <span className="block break-all font-semibold">{invitation.email}</span>
              <span className="block text-12 text-ink-faint">
                <State {...invitation} />
              </span>
            </TableCell>
            <TableCell className="w-36">{roleLabel(invitation.role)}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Until {...invitation} />
            </TableCell>
            <TableCell className="w-10">
              <RowMenu of={invitation.email} isPending={resend.isPending && resend.variables.invitation_id === invitation.id}>
                <MenuItem
                  icon={<Send />}
                  disabled={resend.isPending}
                  onSelect={() => resend.mutate({ project_id: project.id, invitation_id: invitation.id })}
                >
                  Resend
                </MenuItem>
                <MenuItem icon={<UserMinus />} tone="danger" onSelect={() => setDeleting(invitation)}>
                  Withdraw
                </MenuItem>
              </RowMenu>
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {sent && <InviteDialog sent={sent} onClose={() => setSent(null)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Withdraw the invitation of ${deleting.email}?`}
          confirmLabel="Withdraw"
          onConfirm={async () => {
            await withdraw.mutateAsync({ project_id: project.id, invitation_id: deleting.id });
            toast.success(`${deleting.email} is no longer invited`);
            await Promise.all([pending.refetch(), onWithdrawn()]);
          }}
        >
          The link that was handed over or sent opens nothing any more.
        </ConfirmDialog>
      )}
    </>
  );
}

function Until({ was_member, expires_at }: PendingInvitation) {
  if (was_member) return "no end";
  if (Date.parse(expires_at) > Date.now()) return <Time value={expires_at} />;
  return <Badge tone="failed">expired</Badge>;
}

function State({ was_member, invited_by }: PendingInvitation) {
  if (was_member)
    return "Was a member before the owner of the address verified it. Waits until the owner decides. Withdraw it to keep them out.";
  return invited_by ? `Invited by ${invited_by}` : "Invited";
}

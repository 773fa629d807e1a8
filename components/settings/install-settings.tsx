"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { UserMinus, UserPlus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { NameInstallAdminDialog } from "#components/settings/name-install-admin-dialog.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Table, TableActionsHeader, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { TableLoading } from "#components/ui/table-loading.tsx";
import { Time } from "#components/ui/time.tsx";
import type { InstallAdmin } from "#server/features/install/schema.ts";

const PER_PAGE = 50;

/** Who decides for the whole install. */
export function InstallSettings() {
  const trpc = useTRPC();
  const cache = useQueryClient();
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
        <Button variant="primary" icon={<UserPlus />} onClick={() => setIsNaming(true)}>
          Name admin
        </Button>
      }
    >
      <TableLoading query={admins} label="Loading install admins" rows={2} />
      {admins.data && (
        <>
          <Table label="Install admins" className="md:min-w-120">
            <TableHead>
              <tr>
                <TableHeader>Name</TableHeader>
                <TableHeader className="max-md:hidden">Account made</TableHeader>
                <TableActionsHeader />
              </tr>
            </TableHead>
            <TableBody>
              {admins.data.items.map((admin) => (
                <TableRow key={admin.user_id}>
                  <TableCell className="py-1.5">
                    <span className="block font-medium">
                      {admin.name}
                      {admin.user_id === user.id && <span className="ml-1.5 font-normal text-12 text-ink-faint">you</span>}
                    </span>
                    <span className="block break-all text-12 text-ink-faint">{admin.email}</span>
                  </TableCell>
                  <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
                    <Time value={admin.created_at} />
                  </TableCell>
                  <TableCell className="w-10">
                    <IconButton label={`Remove ${admin.name}`} icon={<UserMinus />} onClick={() => setLeaving(admin)} />
                  </TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
          <Pager page={page} perPage={PER_PAGE} total={admins.data.total} onPageChange={setPage} />
        </>
      )}
      <NameInstallAdminDialog open={isNaming} onOpenChange={setIsNaming} />
      <ConfirmDialog
        open={leaving !== null}
        onOpenChange={(open) => !open && setLeaving(null)}
        title={leaving?.user_id === user.id ? "Stop being an install admin?" : `Take the install from ${leaving?.name}?`}
        confirmLabel="Remove"
        onConfirm={async () => {
          if (!leaving) return;
          await remove.mutateAsync({ user_id: leaving.user_id });
          if (leaving.user_id === user.id) return location.assign("/settings");
          await cache.invalidateQueries(trpc.install.admins.pathFilter());
          toast.success(`${leaving.name} is no install admin any more`);
        }}
      >
        The private addresses that {leaving?.user_id === user.id ? "you" : "they"} saved go on working.
      </ConfirmDialog>
    </SettingsSection>
  );
}

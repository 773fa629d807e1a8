"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, ShieldOff } from "lucide-react";
import { useState } from "react";
import type { z } from "zod";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Input } from "#components/ui/input.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import type { Person } from "#server/features/install/schema.ts";
import type { PasswordLink } from "#server/features/security/schema.ts";

const TYPING_MS = 250;

/** Who has an account here, for whom an install admin opens the door again. */
export function InstallPeople() {
  const { trpc, cache } = useApi();
  const [page, setPage] = useState(1);
  const [typed, setTyped] = useState("");
  const q = useDebounced(typed, TYPING_MS);
  const [linking, setLinking] = useState<Person | null>(null);
  const [link, setLink] = useState<{ person: Person; link: z.infer<typeof PasswordLink> } | null>(null);
  const [removing, setRemoving] = useState<Person | null>(null);
  const people = useQuery(trpc.install.people.queryOptions({ page, per_page: PER_PAGE, q }, { placeholderData: keepPreviousData }));
  const me = useQuery(trpc.identity.profile.queryOptions({}));
  const makeLink = useMutation(trpc.install.linkToNewPassword.mutationOptions());
  const remove = useMutation(trpc.install.removeSecondFactor.mutationOptions());
  if (people.error && errorBodyOf(people.error).status === 403) return null;
  return (
    <SettingsSection
      title="People"
      description="Everyone who has an account. For a person who cannot sign in, create a reset link or remove two-factor authentication."
    >
      <Input
        type="search"
        aria-label="Search people"
        placeholder="Name or e-mail"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setPage(1);
        }}
        className="max-w-80"
      />
      <PagedTable
        label="People"
        query={people}
        loadingLabel="Loading people"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-md:hidden">Account made</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={<p className="rounded-lg border p-4 text-14 text-ink-soft">No people match this search.</p>}
      >
        {(person) => (
          <TableRow key={person.user_id}>
            <TableCell className="py-1.5">
              <span className="flex flex-wrap items-center gap-2 font-semibold">
                {person.name}
                {person.is_install_admin && <Badge>install admin</Badge>}
                {person.has_second_factor && <Badge tone="complete">two-factor</Badge>}
              </span>
              <span className="block break-all text-12 text-ink-faint">
                {person.email}
                {!person.is_verified && ", not verified"}
              </span>
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Time value={person.created_at} />
            </TableCell>
            <TableCell className="w-10">
              {/* One's own are changed in Settings, Security. */}
              {me.data && me.data.id !== person.user_id && (
                <RowMenu of={person.name}>
                  <MenuItem icon={<KeyRound />} onSelect={() => setLinking(person)}>
                    Link to a new password
                  </MenuItem>
                  {person.has_second_factor && (
                    <MenuItem icon={<ShieldOff />} tone="danger" onSelect={() => setRemoving(person)}>
                      Remove two-factor
                    </MenuItem>
                  )}
                </RowMenu>
              )}
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {linking && (
        <ConfirmDialog
          onClose={() => setLinking(null)}
          title={`Make a link for ${linking.name}?`}
          confirmLabel="Make link"
          onConfirm={async () => setLink({ person: linking, link: await makeLink.mutateAsync({ user_id: linking.user_id }) })}
        >
          Anyone with this link can set a new password for {linking.email}, once and within an hour. Make sure that the request comes from
          them. They get an email, and the audit log of each of their projects names you.
        </ConfirmDialog>
      )}
      {link && (
        <Dialog
          onClose={() => setLink(null)}
          title="Hand over this link"
          description={`Share it with ${link.person.email} only.`}
          size="sm"
        >
          <CopyField label="Link to a new password" value={link.link.url} what="link" />
          <DialogFooter>
            <Button variant="primary" onClick={() => setLink(null)}>
              Done
            </Button>
          </DialogFooter>
        </Dialog>
      )}
      {removing && (
        <ConfirmDialog
          onClose={() => setRemoving(null)}
          title={`Remove two-factor authentication of ${removing.name}?`}
          confirmLabel="Remove"
          onConfirm={async () => {
            await remove.mutateAsync({ user_id: removing.user_id });
            await cache.invalidateQueries(trpc.install.people.pathFilter());
            toast.success(`${removing.name} signs in with the password alone now`);
          }}
        >
          Be sure that it is they who ask: without it the password alone opens {removing.email}. They are told by mail.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}

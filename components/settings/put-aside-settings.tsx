"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { roleLabel } from "#components/settings/member-words.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { openProject } from "#components/shell/project-cookie.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { PutAside, PutAsidePage } from "#server/features/identity/schema.ts";

type Decision = { item: PutAside; action: "leave" | "take-over" };

/** Lists the projects that the account was in before its address was proven, with a decision for each. */
export function PutAsideSettings() {
  const { trpc, cache } = useApi();
  const [page, setPage] = useState(1);
  const [decision, setDecision] = useState<Decision | null>(null);
  const list = useQuery(trpc.identity.putAside.queryOptions({ page, per_page: PER_PAGE }));
  const refresh = () =>
    Promise.all([trpc.identity.putAside, trpc.identity.invitations].map((of) => cache.invalidateQueries(of.pathFilter())));
  const ended = list.data?.ended && endedWords(list.data.ended);
  return (
    <SettingsSection
      title="Put aside"
      description={
        <>
          This account was in use before its address was verified, so someone else may have created it. Leave the projects that you don't
          recognise.{" "}
          <Link href="/settings/security" className="underline">
            Change your password
          </Link>{" "}
          if someone else may know it.
        </>
      }
    >
      {ended && <p className="text-14 text-ink-soft">{ended}</p>}
      <PagedTable
        label="Put aside"
        query={list}
        loadingLabel="Loading projects"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Project</TableHeader>
            <TableHeader>Role</TableHeader>
            <TableHeader className="max-md:hidden">Members</TableHeader>
            <TableHeader className="max-md:hidden">Put aside</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={
          <EmptyState size="panel" title="Nothing to decide">
            Projects from before your address was verified appear here.
          </EmptyState>
        }
      >
        {(item) => <PutAsideRow key={item.id} item={item} onDecide={(action) => setDecision({ item, action })} />}
      </PagedTable>
      {decision?.action === "leave" && <LeaveDialog item={decision.item} onClose={() => setDecision(null)} onDone={refresh} />}
      {decision?.action === "take-over" && <TakeOverDialog item={decision.item} onClose={() => setDecision(null)} />}
    </SettingsSection>
  );
}

/** Returns one sentence about what ended with the proof; undefined when nothing did. */
function endedWords({ sessions, api_keys, service_accounts, share_links, second_factor }: NonNullable<PutAsidePage["ended"]>) {
  const counts = [
    [sessions, "session"],
    [api_keys, "API key"],
    [service_accounts, "service account"],
    [share_links, "dashboard link"],
  ] as const;
  const parts = counts.flatMap(([count, word]) => (count > 0 ? [plural(count, word)] : []));
  if (second_factor) parts.push("two-factor authentication");
  return parts.length > 0 ? `Ended when your address was verified: ${parts.join(", ")}.` : undefined;
}

function PutAsideRow({ item, onDecide }: { item: PutAside; onDecide: (action: Decision["action"]) => void }) {
  const { project, role, is_own, owner_email, members, put_aside_at } = item;
  return (
    <TableRow>
      <TableCell className="py-1.5">
        <span className="block break-words font-semibold">{project.name}</span>
        {!is_own && owner_email && <span className="block break-all text-12 text-ink-faint">Owned by {owner_email}</span>}
      </TableCell>
      <TableCell>{roleLabel(role)}</TableCell>
      <TableCell className="tabular-nums text-ink-soft max-md:hidden">{members}</TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={put_aside_at} />
      </TableCell>
      <TableCell>
        <span className="flex justify-end gap-2">
          <Button variant="primary" size="sm" aria-label={`Leave ${project.name}`} onClick={() => onDecide("leave")}>
            Leave
          </Button>
          <Button size="sm" aria-label={`Take over ${project.name}`} onClick={() => onDecide("take-over")}>
            Take over
          </Button>
        </span>
      </TableCell>
    </TableRow>
  );
}

function LeaveDialog({
  item: { id, project, members },
  onClose,
  onDone,
}: {
  item: PutAside;
  onClose: () => void;
  onDone: () => Promise<unknown>;
}) {
  const { trpc } = useApi();
  const leave = useMutation(trpc.identity.leavePutAside.mutationOptions());
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Leave ${project.name}?`}
      confirmLabel={members > 0 ? "Leave project" : "Leave and delete"}
      onConfirm={async () => {
        await leave.mutateAsync({ put_aside_id: id });
        toast.success(`You left ${project.name}`);
        await onDone();
      }}
    >
      {members > 0
        ? "The other members keep the project. You will need a new invitation to join it again."
        : "This project has no other members. It will be deleted with everything in it."}
    </ConfirmDialog>
  );
}

function TakeOverDialog({ item: { id, project, role, is_own }, onClose }: { item: PutAside; onClose: () => void }) {
  const { trpc } = useApi();
  const takeOver = useMutation(trpc.identity.takeOver.mutationOptions());
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Take over ${project.name}?`}
      confirmLabel="Take over"
      onConfirm={async () => {
        await takeOver.mutateAsync({ put_aside_id: id });
        openProject(project.id);
      }}
    >
      {is_own
        ? "All other members will be removed, and service accounts, API keys, dashboard links, webhook secrets and open runs will end. Workflows will be turned off. Check each one before you turn it on: it can read the credentials that you add."
        : `You will become ${role} of this project again. Its other members stay.`}
    </ConfirmDialog>
  );
}

"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { LogOut } from "lucide-react";
import { useState } from "react";
import { plural } from "#components/format.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { PER_PAGE } from "#components/ui/pager.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Session } from "#server/features/security/schema.ts";

/** The first that a browser calls itself by is meant: most name others too, to be served like them. */
const BROWSERS = [
  ["Edge", /\bEdg(e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(Firefox|FxiOS)\//],
  ["Chrome", /\b(Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
] as const;
const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b|\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** `Firefox on Linux`; what a program that is none of these calls itself, in short. */
function deviceOf(agent: string | null): string {
  if (agent === null) return "Unknown browser";
  const named = (names: readonly (readonly [string, RegExp])[]) => names.find(([, pattern]) => pattern.test(agent))?.[0];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  if (!browser) return agent.slice(0, 40);
  return system ? `${browser} on ${system}` : browser;
}

/** The browsers that one is signed in with. */
export function SessionsSettings() {
  const { trpc, cache } = useApi();
  const [page, setPage] = useState(1);
  const [isEndingOthers, setIsEndingOthers] = useState(false);
  const sessions = useQuery(trpc.security.sessions.queryOptions({ page, per_page: PER_PAGE }));
  const refresh = () => cache.invalidateQueries(trpc.security.sessions.pathFilter());
  const endOthers = useMutation(trpc.security.endOtherSessions.mutationOptions());
  return (
    <SettingsSection
      title="Sessions"
      description="Where you are signed in. API keys are no sessions, and go on working."
      action={(sessions.data?.total ?? 0) > 1 && <Button onClick={() => setIsEndingOthers(true)}>Sign out all others</Button>}
    >
      <PagedTable
        label="Sessions"
        query={sessions}
        loadingLabel="Loading sessions"
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Device</TableHeader>
            <TableHeader className="max-md:hidden">Signed in</TableHeader>
            <TableHeader>Last seen</TableHeader>
            <TableActionsHeader />
          </>
        }
      >
        {(session) => <SessionRow key={session.id} session={session} onEnded={refresh} />}
      </PagedTable>
      {isEndingOthers && (
        <ConfirmDialog
          onClose={() => setIsEndingOthers(false)}
          title="Sign out all other browsers?"
          confirmLabel="Sign out all others"
          onConfirm={async () => {
            const { count } = await endOthers.mutateAsync({});
            toast.success(`${plural(count, "other browser")} signed out`);
            await refresh();
          }}
        >
          This one stays signed in. If someone else may know your password, change that too.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}

function SessionRow({ session, onEnded }: { session: Session; onEnded: () => Promise<unknown> }) {
  const { trpc } = useApi();
  const device = deviceOf(session.agent);
  const end = useMutation(
    trpc.security.endSession.mutationOptions({
      onSuccess: () => toast.success(`${device} is signed out`),
      onError: () => toast.error("It was signed out already"),
      onSettled: onEnded,
    }),
  );
  return (
    <TableRow>
      <TableCell className="py-1.5">
        <span className="flex flex-wrap items-center gap-2 font-semibold" {...(session.agent !== null && { title: session.agent })}>
          {device}
          {session.is_current && <Badge tone="complete">this browser</Badge>}
        </span>
        {session.ip && <span className="block break-all text-12 text-ink-faint">{session.ip}</span>}
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={session.opened_at} />
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft">
        <Time value={session.seen_at} />
      </TableCell>
      <TableCell className="w-10">
        {!session.is_current && (
          <RowMenu of={device} isPending={end.isPending}>
            <MenuItem icon={<LogOut />} disabled={end.isPending} onSelect={() => end.mutate({ session_id: session.id })}>
              Sign out
            </MenuItem>
          </RowMenu>
        )}
      </TableCell>
    </TableRow>
  );
}

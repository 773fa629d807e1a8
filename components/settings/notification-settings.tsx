"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { NotificationChoices, NotificationKind } from "#server/features/notifications/schema.ts";

const WORDS: Record<NotificationKind, { label: string; hint: string }> = {
  review: { label: "A run waits for a decision", hint: "Of those that you may decide" },
  run_failed: { label: "A run fails", hint: "Once an hour for each workflow at most" },
  schedule_missed: { label: "A schedule was missed", hint: "Because nothing ran when it was due" },
  workflow_disabled: { label: "A workflow was disabled", hint: "Another member turned it off, so its trigger starts no runs" },
  budget: { label: "A budget runs out", hint: "And when it is used up" },
  emails_held: { label: "Emails are held back", hint: "For admins, once an hour for each project at most" },
};
const KINDS = Object.keys(WORDS) as NotificationKind[]; // cast: an object of ours
const WAYS = { in_app: "in the app", mail: "by e-mail" } as const;

/** What one is told of, in the app and by mail, in all projects. */
export function NotificationSettings() {
  const { trpc, client, cache } = useApi();
  const profile = useQuery(trpc.identity.profile.queryOptions({}));
  const change = useMutation({
    mutationFn: (notifications: Partial<NotificationChoices>) => client.identity.updateProfile.mutate({ notifications }),
    onError: (error) => toast.error("This was not saved", { description: errorBodyOf(error).detail }),
    onSettled: () =>
      Promise.all([
        cache.invalidateQueries(trpc.identity.profile.pathFilter()),
        cache.invalidateQueries(trpc.notifications.list.pathFilter()),
      ]),
  });
  const choices = profile.data && { ...profile.data.notifications, ...(change.isPending && change.variables) };
  return (
    <SettingsSection
      title="Notifications"
      description="For all your projects. In the app they stand under the bell; mails come where this install sends any."
    >
      <LoadFailure query={profile} />
      {profile.isPending && <Skeleton className="h-60" />}
      {choices && (
        <Table label="Notifications">
          <TableHead>
            <TableHeader>When</TableHeader>
            <TableHeader className="w-20 text-center">In the app</TableHeader>
            <TableHeader className="w-20 text-center">E-mail</TableHeader>
          </TableHead>
          <TableBody>
            {KINDS.map((kind) => (
              <TableRow key={kind}>
                <TableCell className="py-2">
                  <span className="block font-semibold">{WORDS[kind].label}</span>
                  <span className="block text-12 text-ink-faint">{WORDS[kind].hint}</span>
                </TableCell>
                {(["in_app", "mail"] as const).map((way) => (
                  <TableCell key={way} className="text-center">
                    <Switch
                      label={`${WORDS[kind].label}: ${WAYS[way]}`}
                      checked={choices[kind][way]}
                      onCheckedChange={(isOn) => change.mutate({ [kind]: { ...choices[kind], [way]: isOn } })}
                    />
                  </TableCell>
                ))}
              </TableRow>
            ))}
          </TableBody>
        </Table>
      )}
    </SettingsSection>
  );
}

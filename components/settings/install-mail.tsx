"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import type { MailState } from "#server/features/emails/schema.ts";

const EVERY_MS = 10_000;

/** State of the mail server, and the number of queued emails. */
export function InstallMail() {
  const trpc = useTRPC();
  const state = useQuery(trpc.install.mail.queryOptions({}, { refetchInterval: EVERY_MS }));
  if (state.error && errorBodyOf(state.error).status === 403) return null;
  return (
    <SettingsSection title="Email" description="The mail server at SMTP_URL. Emails are retried while it is unavailable.">
      <LoadFailure query={state} />
      {state.isPending && <Skeleton className="h-24" />}
      {state.data &&
        (state.data.is_on ? <MailFacts state={state.data} /> : <Notice>No emails are sent: SMTP_URL and EMAIL_FROM are not set.</Notice>)}
    </SettingsSection>
  );
}

function MailFacts({ state }: { state: MailState }) {
  const { last_sent_at, last_error, retry_at, queued, held } = state;
  const facts: [string, ReactNode][] = [
    ["Last email sent", last_sent_at ? <Time key="sent" value={last_sent_at} /> : "None yet"],
    ["Queued emails", queued],
    ["Held back for summaries", held],
  ];
  const isFailing = last_error !== null && (last_sent_at === null || last_error.at > last_sent_at);
  return (
    <>
      {last_error && (
        <Notice
          tone={isFailing ? "failed" : "info"}
          title={
            <>
              {isFailing ? "The last email was not sent" : "Last error"}, <Time value={last_error.at} />
            </>
          }
        >
          {last_error.message}
          {retry_at && (
            <>
              {" "}
              Next attempt <Time value={retry_at} />.
            </>
          )}
        </Notice>
      )}
      <dl className="grid max-w-100 grid-cols-[1fr_auto] gap-x-4 gap-y-1 text-14">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-soft">{name}</dt>
            <dd className="text-right tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { OutgoingProxyState } from "#server/features/install/schema.ts";

const DIRECT = "No proxy";

/** The proxy of outgoing requests, without user and password. */
export function InstallProxy() {
  const trpc = useTRPC();
  const state = useQuery(trpc.install.proxy.queryOptions({}));
  if (state.error && errorBodyOf(state.error).status === 403) return null;
  return (
    <SettingsSection title="Outgoing requests" description="The proxy that OUTGOING_PROXY sets on the server.">
      <LoadFailure query={state} />
      {state.isPending && <Skeleton className="h-16" />}
      {state.data &&
        (state.data.is_on ? <ProxyFacts state={state.data} /> : <Notice>Requests go out directly: OUTGOING_PROXY is not set.</Notice>)}
    </SettingsSection>
  );
}

function ProxyFacts({ state: { http, https, no_proxy } }: { state: OutgoingProxyState }) {
  const facts: [string, string][] = [
    ["https:// URLs", https ?? DIRECT],
    ["http:// URLs", http ?? DIRECT],
    ["Called directly (NO_PROXY)", no_proxy.join(", ") || "None"],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1 text-14 max-sm:grid-cols-1 max-sm:gap-y-0">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="min-w-0 break-words max-sm:mb-2">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

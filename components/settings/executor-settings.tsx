"use client";

import { useQuery } from "@tanstack/react-query";
import { ExecutorFacts } from "#components/runs/executor-facts.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Notice } from "#components/ui/notice.tsx";

const LOOK_AGAIN_MS = 10_000;

/** How it stands with the Inngest server that carries the runs of this install; nothing where none is named. */
export function ExecutorSettings() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.executor.contact.queryOptions({}, { refetchInterval: LOOK_AGAIN_MS }));
  if (data?.kind !== "inngest") return null;
  return (
    <SettingsSection title="Inngest server" description="It carries the runs of every project of this install.">
      {data.problem !== null && <Notice tone="waiting">{data.problem}</Notice>}
      {data.problem === null && data.called_at !== null && <Notice tone="complete">The connection works.</Notice>}
      {data.problem === null && data.called_at === null && <Notice>It has not called yet. It does so every minute.</Notice>}
      <ExecutorFacts contact={data} />
    </SettingsSection>
  );
}

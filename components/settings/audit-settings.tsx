"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import { AuditFilters, filterOf } from "#components/settings/audit-filters.tsx";
import { AuditTable } from "#components/settings/audit-table.tsx";
import { isAuditResource } from "#components/settings/audit-words.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { TableLoading } from "#components/ui/table-loading.tsx";

const PER_PAGE = 50;
const DAY_MS = 86_400_000;

/** Who changed what in the project; filters and page stand in the address. */
export function AuditSettings() {
  const { project, canAdminister } = useStudio();
  return (
    <SettingsSection title="Audit log" description="Who changed what in this project. It is kept as long as the project is.">
      {canAdminister ? <AuditLog /> : <Notice>Only admins read the audit log; you are {project.role} in this project.</Notice>}
    </SettingsSection>
  );
}

function AuditLog() {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams();
  // One moment for the whole visit, so that pages of "last 7 days" stay pages of one list.
  const [now] = useState(() => Date.now());
  const filter = filterOf(new URLSearchParams(query));
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const { type = null, who, days } = filter;
  const entries = useQuery(
    trpc.audit.list.queryOptions(
      {
        page,
        per_page: PER_PAGE,
        ...(isAuditResource(type) && { resource_type: type }),
        ...(who && { actor: who }),
        ...(days && { from: new Date(now - Number(days) * DAY_MS).toISOString() }),
      },
      { placeholderData: keepPreviousData },
    ),
  );
  const go = (changes: Record<string, string | undefined>) => {
    const next = new URLSearchParams(query);
    for (const [key, value] of Object.entries(changes)) {
      if (value === undefined) next.delete(key);
      else next.set(key, value);
    }
    router.replace(next.size ? `${path}?${next}` : path, { scroll: false });
  };
  return (
    <>
      <AuditFilters filter={filter} onChange={(changes) => go({ ...changes, page: undefined })} />
      <TableLoading query={entries} label="Loading the audit log" />
      {entries.data?.total === 0 && <p className="py-6 text-13 text-ink-soft">No entry matches these filters.</p>}
      {entries.data && entries.data.total > 0 && (
        <>
          <AuditTable entries={entries.data.items} />
          <Pager
            page={page}
            perPage={PER_PAGE}
            total={entries.data.total}
            onPageChange={(next) => go({ page: next === 1 ? undefined : String(next) })}
          />
        </>
      )}
    </>
  );
}

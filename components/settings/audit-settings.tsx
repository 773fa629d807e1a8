"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { AuditTable, isAuditResource, resourceLabels } from "#components/settings/audit-table.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Pager, PER_PAGE } from "#components/ui/pager.tsx";
import { Select } from "#components/ui/select.tsx";
import { TableLoading } from "#components/ui/table.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";

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
  const { query, setQuery, page, setPage } = useUrlQuery();
  // One moment for the whole visit, so that pages of "last 7 days" stay pages of one list.
  const [now] = useState(() => Date.now());
  const filter = filterOf(new URLSearchParams(query));
  const { type = null, who, days } = filter;
  const [text, setText] = useState(query.get("q") ?? "");
  const q = useDebounced(text.trim(), 150).slice(0, 200);
  const entries = useQuery(
    trpc.audit.list.queryOptions(
      {
        page,
        per_page: PER_PAGE,
        ...(q && { q }),
        ...(isAuditResource(type) && { resource_type: type }),
        ...(who && { actor: who }),
        ...(days && { from: new Date(now - Number(days) * DAY_MS).toISOString() }),
      },
      { placeholderData: keepPreviousData },
    ),
  );
  return (
    <>
      <SearchField
        label="Search the log"
        value={text}
        onValueChange={(next) => {
          setText(next);
          if (page > 1) setPage(1);
        }}
        className="-mb-2 sm:max-w-72"
      />
      <AuditFilters filter={filter} onChange={(changes) => setQuery({ ...changes, page: undefined })} />
      <TableLoading query={entries} label="Loading the audit log" />
      {entries.data?.total === 0 && <p className="py-6 text-14 text-ink-soft">No entry matches.</p>}
      {entries.data && entries.data.total > 0 && (
        <>
          <AuditTable entries={entries.data.items} />
          <Pager page={page} total={entries.data.total} onPageChange={setPage} />
        </>
      )}
    </>
  );
}

const ALL = "all";

const periods = [
  { value: ALL, label: "Any time" },
  { value: "1", label: "Last 24 hours" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
] as const;

export interface AuditFilter {
  type: string | undefined;
  who: string | undefined;
  days: string | undefined;
}

/** What of the address counts as a filter. */
export function filterOf(query: URLSearchParams): AuditFilter {
  const type = query.get("type");
  const days = query.get("days");
  return {
    type: isAuditResource(type) ? type : undefined,
    who: query.get("who") ?? undefined,
    days: periods.some(({ value }) => value === days && value !== ALL) ? (days ?? undefined) : undefined,
  };
}

export function AuditFilters({ filter, onChange }: { filter: AuditFilter; onChange: (changes: Partial<AuditFilter>) => void }) {
  const trpc = useTRPC();
  const actors = useQuery(trpc.audit.actors.queryOptions({}));
  const chosen = (value: string) => (value === ALL ? undefined : value);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2 max-sm:[&>div]:w-full">
      <div className="w-40">
        <Select
          aria-label="Resource"
          value={filter.type ?? ALL}
          options={[{ value: ALL, label: "Any resource" }, ...Object.entries(resourceLabels).map(([value, label]) => ({ value, label }))]}
          onValueChange={(value) => onChange({ type: chosen(value) })}
        />
      </div>
      <div className="w-52">
        <Select
          aria-label="Who"
          value={filter.who ?? ALL}
          options={[{ value: ALL, label: "Anyone" }, ...(actors.data ?? []).map(({ id, email }) => ({ value: id, label: email }))]}
          onValueChange={(value) => onChange({ who: chosen(value) })}
        />
      </div>
      <div className="w-36">
        <Select
          aria-label="When"
          value={filter.days ?? ALL}
          options={periods.map(({ value, label }): { value: string; label: string } => ({ value, label }))}
          onValueChange={(value) => onChange({ days: chosen(value) })}
        />
      </div>
      {isFiltered && (
        <Button variant="ghost" onClick={() => onChange({ type: undefined, who: undefined, days: undefined })}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

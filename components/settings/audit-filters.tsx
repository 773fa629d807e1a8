"use client";

import { useQuery } from "@tanstack/react-query";
import { isAuditResource, resourceLabels } from "#components/settings/audit-words.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Select } from "#components/ui/select.tsx";
import { auditResources } from "#server/features/audit/schema.ts";

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
          options={[
            { value: ALL, label: "Any resource" },
            ...auditResources.map((value): { value: string; label: string } => ({ value, label: resourceLabels[value] })),
          ]}
          onValueChange={(value) => onChange({ type: chosen(value) })}
        />
      </div>
      <div className="w-52">
        <Select
          aria-label="Who"
          value={filter.who ?? ALL}
          options={[{ value: ALL, label: "Anybody" }, ...(actors.data ?? []).map(({ id, email }) => ({ value: id, label: email }))]}
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

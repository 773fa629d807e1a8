"use client";

import { useEffect, useEffectEvent } from "react";
import { isFiltered, nothingFiltered, type RunFilter, spans } from "#components/runs/list/filter.ts";
import { SavedViews } from "#components/runs/list/saved-views.tsx";
import { triggerName } from "#components/runs/trigger-label.tsx";
import { useSearchText } from "#components/shell/use-search-text.ts";
import { WorkflowSelect } from "#components/shell/workflow-select.tsx";
import { Button } from "#components/ui/button.tsx";
import { Input, SearchField } from "#components/ui/input.tsx";
import { MultiSelect } from "#components/ui/multi-select.tsx";
import { Select } from "#components/ui/select.tsx";
import { StatusIcon, statusLooks } from "#components/ui/status.tsx";
import { executionStatuses, executionTriggers } from "#server/shared/execution-status.ts";

const ANY = "any";
const CUSTOM = "custom";
/** How long one has stopped typing when the search is asked, in milliseconds. */
const PAUSE_MS = 250;

const statusOptions = executionStatuses.map((value) => ({
  value,
  label: statusLooks[value].label,
  icon: <StatusIcon status={value} isDecorative />,
}));
const triggerOptions = executionTriggers.map((value) => ({ value, label: triggerName(value) }));

interface RunFiltersProps {
  filter: RunFilter;
  onChange: (changes: Partial<RunFilter>) => void;
  /** Called when other words are searched for. */
  onSearch: () => void;
}

/** What the list of runs is narrowed by; all of it stands in the address. */
export function RunFilters({ filter, onChange, onSearch }: RunFiltersProps) {
  return (
    <search aria-label="Filter runs" className="-mb-2 flex flex-wrap items-center gap-2">
      <Search onSearch={onSearch} />
      <div className="w-48 max-sm:w-[calc(50%-0.25rem)]">
        <WorkflowSelect
          aria-label="Workflow"
          value={filter.workflow ?? null}
          none="Any workflow"
          onValueChange={(id) => onChange({ workflow: id ?? undefined })}
        />
      </div>
      <MultiSelect
        label="Status"
        none="Any status"
        values={filter.statuses}
        onValuesChange={(statuses) => onChange({ statuses })}
        options={statusOptions}
        className="w-40 max-sm:w-[calc(50%-0.25rem)]"
      />
      <MultiSelect
        label="Trigger"
        none="Any trigger"
        values={filter.triggers}
        onValuesChange={(triggers) => onChange({ triggers })}
        options={triggerOptions}
        className="w-36 max-sm:w-[calc(50%-0.25rem)]"
      />
      <div className="w-40 max-sm:w-[calc(50%-0.25rem)]">
        <Select
          aria-label="When"
          value={filter.since ?? ANY}
          options={[
            { value: ANY, label: "Any time" },
            ...spans.map(({ value, label }): { value: string; label: string } => ({ value, label })),
            { value: CUSTOM, label: "Days…" },
          ]}
          onValueChange={(since) => onChange({ since: since === ANY ? undefined : since, from: undefined, to: undefined })}
        />
      </div>
      {filter.since === CUSTOM && (
        <span className="flex items-center gap-1.5 text-12 text-ink-soft">
          <Input
            type="date"
            aria-label="From day"
            value={filter.from ?? ""}
            {...(filter.to && { max: filter.to })}
            onChange={(event) => onChange({ since: CUSTOM, from: event.target.value || undefined })}
            className="w-36"
          />
          to
          <Input
            type="date"
            aria-label="To day"
            value={filter.to ?? ""}
            {...(filter.from && { min: filter.from })}
            onChange={(event) => onChange({ since: CUSTOM, to: event.target.value || undefined })}
            className="w-36"
          />
        </span>
      )}
      {(isFiltered(filter) || filter.since !== undefined) && (
        <Button variant="ghost" onClick={() => onChange(nothingFiltered)}>
          Clear filters
        </Button>
      )}
      <span className="ml-auto">
        <SavedViews filter={filter} onChoose={onChange} />
      </span>
    </search>
  );
}

function Search({ onSearch }: { onSearch: () => void }) {
  const { text, setText, q } = useSearchText(PAUSE_MS);
  const tell = useEffectEvent(onSearch);
  // biome-ignore lint/correctness/useExhaustiveDependencies: told whenever other words are asked for
  useEffect(() => tell(), [q]);
  return (
    <SearchField
      label="Search runs"
      value={text}
      onValueChange={setText}
      className="max-w-64 grow basis-44 max-sm:max-w-none max-sm:basis-full"
    />
  );
}

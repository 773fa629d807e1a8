"use client";

import { ChevronDown } from "lucide-react";
import { WorkflowSelect } from "#components/shell/workflow-select.tsx";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { Menu, MenuChoice, type MenuChoiceProps } from "#components/ui/menu.tsx";
import { menuFieldStyle } from "#components/ui/styles.ts";

const DUE_HOURS = { day: 24, week: 7 * 24 } as const;
type Due = keyof typeof DUE_HOURS;

export interface Filters {
  workflow: string | null;
  isMine: boolean;
  due: Due | null;
}

/** The filters that an address names. */
export function readFilters(query: { get(name: string): string | null }): Filters {
  const due = query.get("due");
  return { workflow: query.get("workflow"), isMine: query.get("for") === "me", due: due === "day" || due === "week" ? due : null };
}

/** The same as the server takes them. @param now when the page was opened, in milliseconds */
export const listInput = ({ workflow, isMine, due }: Filters, now: number) => ({
  ...(workflow && { workflow_id: workflow }),
  ...(isMine && { assigned_to: "me" as const }),
  ...(due && { due_before: new Date(now + DUE_HOURS[due] * 3_600_000).toISOString() }),
});

export const isFiltered = ({ workflow, isMine, due }: Filters): boolean => workflow !== null || isMine || due !== null;

interface ReviewFiltersProps {
  filters: Filters;
  /** What was decided is due no more. */
  isDecided: boolean;
  onChange: (changes: Record<string, string | undefined>) => void;
  className?: string;
}

/** Which reviews are listed: of which workflow, for whom, until when. */
export function ReviewFilters({ filters, isDecided, onChange, className }: ReviewFiltersProps) {
  return (
    <div className={cn("flex min-w-0 flex-wrap items-center gap-1.5 py-1", className)}>
      <Field label="Workflow" isLabelHidden className="max-md:w-full">
        <div className="w-44 max-md:w-full">
          <WorkflowSelect value={filters.workflow} none="All workflows" onValueChange={(id) => onChange({ workflow: id ?? undefined })} />
        </div>
      </Field>
      <Choice
        label="For whom"
        value={filters.isMine ? "me" : "all"}
        options={[
          { value: "all", label: "For anybody" },
          { value: "me", label: "Assigned to me" },
        ]}
        onValueChange={(value) => onChange({ for: value === "me" ? value : undefined })}
      />
      {!isDecided && (
        <Choice
          label="Due"
          value={filters.due ?? "any"}
          options={[
            { value: "any", label: "Due at any time" },
            { value: "day", label: "Due within a day" },
            { value: "week", label: "Due within a week" },
          ]}
          onValueChange={(value) => onChange({ due: value === "any" ? undefined : value })}
        />
      )}
    </div>
  );
}

/** One of a few, as a menu, which comes with every page: a Select would be 9 kB more to load. */
function Choice<Value extends string>({ label, ...choice }: MenuChoiceProps<Value> & { label: string }) {
  const shown = choice.options.find(({ value }) => value === choice.value)?.label;
  return (
    <Menu
      align="start"
      label={label}
      trigger={
        <button type="button" aria-label={`${label}: ${shown}`} className={cn(menuFieldStyle, "w-36 max-md:w-auto max-md:flex-1")}>
          <span className="truncate">{shown}</span>
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        </button>
      }
    >
      <MenuChoice label={label} {...choice} />
    </Menu>
  );
}

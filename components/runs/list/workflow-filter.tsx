"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Check, ChevronDown } from "lucide-react";
import { useState } from "react";
import { useWorkflowName } from "#components/shell/use-workflows.ts";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { SearchField } from "#components/ui/input.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { controlStyle, itemStyle } from "#components/ui/styles.ts";
import { useDebounced } from "#components/ui/use-debounced.ts";

/** How many are listed at once; the rest is found by typing. */
const MOST_SHOWN = 50;
/** How long one has stopped typing when it is asked, in milliseconds. */
const PAUSE_MS = 200;

/** One of the project's workflows, found by typing; undefined for all. */
export function WorkflowFilter({ value, onValueChange }: { value: string | undefined; onValueChange: (id: string | undefined) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = useWorkflowName(value ?? null);
  const shown = value === undefined ? "Any workflow" : (name ?? (name === null ? "…" : "A workflow that is gone"));
  return (
    <Popover
      label="Workflow"
      align="start"
      open={isOpen}
      onOpenChange={setIsOpen}
      className="flex max-h-80 w-72 flex-col p-1"
      trigger={
        <button
          type="button"
          aria-label={`Workflow: ${shown}`}
          className={cn(controlStyle, "flex h-8 items-center justify-between gap-2 pr-2 pl-2.5 text-left pointer-coarse:h-11")}
        >
          <span className="truncate">{shown}</span>
          <ChevronDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        </button>
      }
    >
      <Choices
        value={value}
        onChoose={(id) => {
          onValueChange(id);
          setIsOpen(false);
        }}
      />
    </Popover>
  );
}

function Choices({ value, onChoose }: { value: string | undefined; onChoose: (id: string | undefined) => void }) {
  const [typed, setTyped] = useState("");
  const trpc = useTRPC();
  const wanted = useDebounced(typed.trim(), PAUSE_MS);
  const found = useQuery(
    trpc.workflows.list.queryOptions({ per_page: MOST_SHOWN, ...(wanted && { q: wanted }) }, { placeholderData: keepPreviousData }),
  );
  const options = [...(wanted ? [] : [{ id: undefined, name: "Any workflow" }]), ...(found.data?.items ?? [])];
  const more = (found.data?.total ?? 0) - (found.data?.items.length ?? 0);
  return (
    <>
      <SearchField label="Find a workflow" value={typed} onValueChange={setTyped} className="p-1" />
      <ul className="min-h-0 flex-1 overflow-y-auto p-1">
        {options.map(({ id, name }) => (
          <li key={id ?? ""}>
            <button
              type="button"
              onClick={() => onChoose(id)}
              className={cn(itemStyle, "w-full pr-8 text-left hover:bg-hover")}
              aria-pressed={id === value}
            >
              <span className="min-w-0 flex-1 truncate">{name}</span>
              {id === value && <Check aria-hidden className="absolute right-2 text-thread-text" />}
            </button>
          </li>
        ))}
      </ul>
      <p className="px-3 pb-1.5 text-12 text-ink-faint" role="status">
        {found.isPending
          ? "Loading…"
          : found.data?.total === 0
            ? "No workflow is called so."
            : more > 0
              ? `${more} more: type to find them.`
              : ""}
      </p>
    </>
  );
}

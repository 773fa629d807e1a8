"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatCount } from "#components/format.ts";
import { useWorkflowName } from "#components/shell/use-workflows.ts";
import { useTRPC } from "#components/trpc.tsx";
import type { SearchOption } from "#components/ui/search-list.tsx";
import { SearchSelect } from "#components/ui/search-select.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";

const NONE = "none";
const SHOWN = 50;
const PAUSE_MS = 150;

export interface WorkflowSelectProps {
  /** Its id; null or empty for none. */
  value: string | null;
  onValueChange: (id: string | null) => void;
  /** Not offered: the one that chooses. */
  except?: string;
  /** What it means to choose none; left out, one must be chosen. */
  none?: string;
  disabled?: boolean;
  /** Accessible name where no Field gives one. */
  "aria-label"?: string;
  className?: string;
}

/** One of the project's workflows, which the server searches while one types. */
export function WorkflowSelect({ value, onValueChange, except, none, disabled = false, ...rest }: WorkflowSelectProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [text, setText] = useState("");
  const q = useDebounced(text.trim(), PAUSE_MS);
  const trpc = useTRPC();
  const found = useQuery(
    trpc.workflows.list.queryOptions(
      { per_page: SHOWN, ...(q && { q }) },
      { enabled: isOpen, placeholderData: keepPreviousData, refetchOnMount: "always" },
    ),
  );
  const name = useWorkflowName(value || null);
  const items = found.data?.items.filter(({ id }) => id !== except) ?? [];
  const nothing: SearchOption[] = none === undefined || q !== "" ? [] : [{ id: NONE, label: none, isChosen: !value }];
  const options = [...nothing, ...items.map(({ id, name: label, folder }) => ({ id, label, detail: folder, isChosen: id === value }))];
  const more = (found.data?.total ?? 0) - (found.data?.items.length ?? 0);
  const shown = !value ? (none ?? "Choose a workflow") : name === null ? "Loading workflows…" : (name ?? "A workflow that is gone");
  return (
    <SearchSelect
      {...rest}
      shown={shown}
      isEmpty={!value && none === undefined}
      searchLabel="Search workflows"
      options={options}
      text={text}
      onTextChange={setText}
      isStale={found.isPending || found.isPlaceholderData || q !== text.trim()}
      empty={
        found.isError
          ? "The workflows could not be loaded. Close this and try again."
          : q
            ? "No workflow matches."
            : "No other workflow yet."
      }
      {...(more > 0 && {
        footer: `${formatCount(found.data?.items.length ?? 0)} of ${formatCount(found.data?.total ?? 0)}. Type to find the others.`,
      })}
      disabled={disabled}
      onOpenChange={setIsOpen}
      onPick={(id) => onValueChange(id === NONE ? null : id)}
    />
  );
}

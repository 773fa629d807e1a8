"use client";

import { useWorkflowName, useWorkflows } from "#components/shell/use-workflows.ts";
import { Select } from "#components/ui/select.tsx";

const NONE = "none";

export interface WorkflowSelectProps {
  /** Its id; null or empty for none. */
  value: string | null;
  onValueChange: (id: string | null) => void;
  /** Not offered: the one that chooses. */
  except?: string;
  /** What it means to choose none; left out, one must be chosen. */
  none?: string;
  disabled?: boolean;
}

/** One of the project's workflows. */
export function WorkflowSelect({ value, onValueChange, except, none, disabled = false }: WorkflowSelectProps) {
  const known = useWorkflows();
  const name = useWorkflowName(value || null);
  const options = (known?.items ?? []).flatMap(({ id, name: label }) => (id === except ? [] : [{ value: id, label }]));
  // One that is not among the latest is chosen all the same.
  if (value && name && !options.some((option) => option.value === value)) options.unshift({ value, label: name });
  const all = none === undefined ? options : [{ value: NONE, label: none }, ...options];
  const isListed = all.some((option) => option.value === value);
  const missing =
    value && name === undefined ? "A workflow that is gone" : options.length === 0 ? "No other workflow yet" : "Choose a workflow";
  return (
    <Select
      value={value && isListed ? value : value || none === undefined ? "" : NONE}
      disabled={disabled || known === undefined || all.length === 0}
      placeholder={known === undefined || name === null ? "Loading workflows…" : missing}
      options={all}
      onValueChange={(id) => onValueChange(id === NONE ? null : id)}
    />
  );
}

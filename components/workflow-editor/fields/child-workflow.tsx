"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { formatDateTime } from "#components/format.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Field } from "#components/ui/field.tsx";
import { Select } from "#components/ui/select.tsx";
import { ExpressionField } from "#components/workflow-editor/fields/expression-field.tsx";
import { initialText } from "#components/workflow-editor/fields/run-values.ts";
import { own } from "#server/shared/json-text.ts";
import { type TriggerParameter, triggerNode } from "#server/workflow/nodes/trigger-node.ts";

// What a node says of another workflow that it runs: which version of it, and what its trigger is given.

interface Child {
  workflow_id?: unknown;
  version?: unknown;
}

/** The trigger of the workflow that a config names; undefined while it is not known, or there is none. */
export function useChildTrigger({ workflow_id, version }: Child) {
  const trpc = useTRPC();
  const id = typeof workflow_id === "string" ? workflow_id : "";
  const number = typeof version === "number" ? version : undefined;
  const select = ({ nodes }: { nodes: { type: string; data: Record<string, unknown> }[] }) =>
    triggerNode.config.safeParse(nodes.find(({ type }) => type === triggerNode.type)?.data).data;
  const current = useQuery(
    trpc.workflows.get.queryOptions({ workflow_id: id }, { enabled: id !== "" && number === undefined, select, retry: false }),
  );
  const fixed = useQuery(
    trpc.workflowVersions.get.queryOptions(
      { workflow_id: id, version: number ?? 1 },
      { enabled: id !== "" && number !== undefined, select, retry: false },
    ),
  );
  return number === undefined ? current.data : fixed.data;
}

const CURRENT = "current";

export interface VersionFieldProps {
  child: Child;
  value: unknown;
  isReadOnly: boolean;
  onChange: (version: "current" | number) => void;
}

/** Which version of the other workflow runs: whatever is the current one then, or one that stays as it is. */
export function VersionField({ child: { workflow_id }, value, isReadOnly, onChange }: VersionFieldProps) {
  const id = typeof workflow_id === "string" ? workflow_id : "";
  const { data } = useQuery(
    useTRPC().workflowVersions.list.queryOptions({ workflow_id: id, per_page: 200 }, { enabled: id !== "", retry: false }),
  );
  const chosen = typeof value === "number" ? String(value) : CURRENT;
  const options = [
    { value: CURRENT, label: "Current", description: "As it is published when the run comes here" },
    ...(data?.items ?? []).map(({ version, name, created_at }) => ({
      value: String(version),
      label: `Version ${version}`,
      description: name ?? formatDateTime(created_at),
    })),
  ];
  // An old one of many, or one that is not there: the run will tell.
  if (!options.some((option) => option.value === chosen)) options.push({ value: chosen, label: `Version ${chosen}`, description: "" });
  return (
    <Select
      value={chosen}
      disabled={isReadOnly}
      options={options.map(({ description, ...option }) => ({ ...option, ...(description && { description }) }))}
      onValueChange={(next) => onChange(next === CURRENT ? CURRENT : Number(next))}
    />
  );
}

const KINDS: Record<TriggerParameter["type"], string | undefined> = {
  text: undefined,
  number: "A number",
  boolean: "true or false",
  select: undefined,
  array: "A JSON list",
  object: "A JSON object",
};

/** What a parameter takes, and what it is without a value. */
function hintOf(parameter: TriggerParameter): string {
  const { type, options, default: preset } = parameter;
  const kind = type === "select" ? `One of: ${(options ?? []).join(", ")}` : KINDS[type];
  const otherwise = preset === undefined || preset === null || preset === "" ? undefined : `empty is ${initialText(parameter)}`;
  return [kind, otherwise].filter(Boolean).join("; ");
}

export interface ChildParametersProps {
  parameters: readonly TriggerParameter[];
  value: Readonly<Record<string, string>>;
  problems: readonly string[];
  isReadOnly: boolean;
  onChange: (value: Record<string, string>) => void;
  /** Draws values by names that the workflow has no parameters for. */
  others: (value: Record<string, string>, onChange: (value: Record<string, string>) => void) => ReactNode;
}

/** The form that the other workflow asks with, each field a text that may hold expressions. */
export function ChildParameters({ parameters, value, problems, isReadOnly, onChange, others }: ChildParametersProps) {
  const names = parameters.map(({ name }) => name);
  const part = (isOwn: boolean) => Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name) === isOwn));
  const rest = part(false);
  // What is empty is left to the parameter's default.
  const set = (name: string, text: string) => {
    const { [name]: _, ...kept } = value;
    onChange(text === "" ? kept : { ...kept, [name]: text });
  };
  return (
    <div className="flex flex-col gap-3 rounded-md border bg-surface p-2.5">
      {parameters.map((parameter) => {
        const { name, label, required, default: preset } = parameter;
        const text = own(value, name) ?? "";
        const isMissing = required && text === "" && (preset === undefined || preset === "");
        const hint = hintOf(parameter);
        return (
          <Field
            key={name}
            label={label || name}
            isRequired={required}
            isOptional={!required}
            error={isMissing ? "Fill this in: the workflow does not start without it." : undefined}
            {...(hint && { hint })}
          >
            <ExpressionField value={text} rows={1} {...{ problems, isReadOnly }} onChange={(next) => set(name, next)} />
          </Field>
        );
      })}
      {Object.keys(rest).length > 0 && (
        <Field label="It has no parameters of these names" error="Remove them: the workflow refuses what it does not know.">
          {others(rest, (next) => onChange({ ...part(true), ...next }))}
        </Field>
      )}
    </div>
  );
}

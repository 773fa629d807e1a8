"use client";

import type { ReactNode } from "react";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";

/** The scopes of a key with what each is good for, for choices. */
const scopeOptions: readonly { value: KeyScope; label: string; hint: string }[] = [
  { value: "read", label: "Read", hint: "Lists, runs and their results" },
  { value: "run", label: "Run", hint: "Start, cancel and repeat runs, decide reviews, ask agents" },
  { value: "write", label: "Write", hint: "Everything else: build, change and delete, members and secrets too" },
];

function Choices({ legend, error, children }: { legend: string; error?: string | undefined; children: ReactNode }) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 font-medium text-12 text-ink">{legend}</legend>
      {children}
      {error !== undefined && (
        <p role="alert" className="text-12 text-failed">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface ChoiceProps<Value> {
  value: Value;
  onValueChange: (value: Value) => void;
  error?: string | undefined;
}

/** What the key may do; each scope stands for itself. */
export function ScopeChoice({ value, onValueChange, error }: ChoiceProps<KeyScope[]>) {
  const toggled = (scope: KeyScope, isOn: boolean) =>
    scopeOptions.map((option) => option.value).filter((one) => (one === scope ? isOn : value.includes(one)));
  return (
    <Choices legend="May" error={error}>
      {scopeOptions.map(({ value: scope, label, hint }) => (
        <Checkbox
          key={scope}
          label={label}
          hint={hint}
          checked={value.includes(scope)}
          onCheckedChange={(isOn) => onValueChange(toggled(scope, isOn))}
        />
      ))}
    </Choices>
  );
}

/** Which projects the key opens; null for all, also those to come. */
export function ProjectChoice({ value, onValueChange, error }: ChoiceProps<string[] | null>) {
  const { project, projects } = useStudio();
  return (
    <Choices legend="Projects" error={error}>
      <Checkbox
        label="All of mine"
        hint="Also those that you make or join later"
        checked={value === null}
        onCheckedChange={(isOn) => onValueChange(isOn ? null : [project.id])}
      />
      {value !== null && (
        <ul className="flex max-h-40 flex-col gap-2 overflow-y-auto rounded-md border bg-raised p-3">
          {projects.map(({ id, name }) => (
            <li key={id}>
              <Checkbox
                label={name}
                checked={value.includes(id)}
                onCheckedChange={(isOn) => onValueChange(isOn ? [...value, id] : value.filter((one) => one !== id))}
              />
            </li>
          ))}
        </ul>
      )}
    </Choices>
  );
}

"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

export interface LinkOption {
  id: string;
  name: string;
  /** A few words under the name. */
  hint?: ReactNode;
}

export interface LinkPickerProps {
  legend: string;
  /** What the choice does, under the legend. */
  hint: string;
  /** Undefined while they are loaded. */
  options: readonly LinkOption[] | undefined;
  hasFailed: boolean;
  value: readonly string[];
  onValueChange: (ids: string[]) => void;
  /** What stands there when there is nothing to choose. */
  empty: string;
  /** Where such things are made. */
  manage: { href: string; label: string };
  /** Why nothing can be chosen now. */
  disabledReason?: string | undefined;
  error?: string | undefined;
}

/** Several of the project's resources, as boxes to tick. What was chosen and can no longer be found can still be taken out. */
export function LinkPicker(props: LinkPickerProps) {
  const { legend, hint, options, hasFailed, value, onValueChange, empty, manage, disabledReason, error } = props;
  const missing = options ? value.filter((id) => !options.some((option) => option.id === id)) : [];
  const shown: LinkOption[] = [...(options ?? []), ...missing.map((id) => ({ id, name: id, hint: "Not found in this project" }))];
  const toggle = (id: string, isOn: boolean) => onValueChange(isOn ? [...value, id] : value.filter((one) => one !== id));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 flex w-full items-center justify-between gap-3">
        <span className="font-medium text-12 text-ink">
          {legend}
          {value.length > 0 && <span className="ml-1.5 font-normal text-ink-faint">{value.length} chosen</span>}
        </span>
        <Link href={manage.href} className="text-12 text-thread-text hover:underline">
          {manage.label}
        </Link>
      </legend>
      {options === undefined && !hasFailed && <Skeleton className="h-8 w-full" />}
      {hasFailed && <p className="text-12 text-failed">The list could not be loaded. Reload the page to try again.</p>}
      {shown.length > 0 && (
        <ul className="flex max-h-56 flex-col gap-2 overflow-y-auto rounded-md border bg-raised p-3">
          {shown.map((option) => {
            const isOn = value.includes(option.id);
            return (
              <li key={option.id}>
                <Checkbox
                  label={option.name}
                  hint={option.hint}
                  checked={isOn}
                  // What is chosen can always be taken out.
                  disabled={disabledReason !== undefined && !isOn}
                  onCheckedChange={(checked) => toggle(option.id, checked)}
                />
              </li>
            );
          })}
        </ul>
      )}
      {error !== undefined && (
        <p role="alert" className="text-12 text-failed">
          {error}
        </p>
      )}
      <p className="text-12 text-ink-faint">{disabledReason ?? (options?.length === 0 ? empty : hint)}</p>
    </fieldset>
  );
}

"use client";

import { CopyButton } from "#components/ui/copy-button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";

interface CopyFieldProps {
  label: string;
  hint?: string;
  value: string;
  /** What is copied, e.g. "API key"; the button is called "Copy API key". */
  what: string;
  /** A small button, for a narrow panel. */
  isCompact?: boolean;
}

/** A value to take elsewhere: selected when it gets the focus, and copied by a button. */
export function CopyField({ label, hint, value, what, isCompact = false }: CopyFieldProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <div className={isCompact ? "flex gap-1" : "flex gap-2"}>
        <Input value={value} readOnly className="font-mono text-12" onFocus={(event) => event.target.select()} />
        {isCompact ? <CopyButton value={value} what={what} className="size-8" /> : <CopyButton value={value} what={what} isWide />}
      </div>
    </Field>
  );
}

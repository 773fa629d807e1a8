"use client";

import { useState } from "react";
import { FieldError } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { type NumberBounds, numberFault, type TypedNumber, typeNumber } from "#components/workflow-editor/fields/number-bounds.ts";

export interface NumberFieldProps extends NumberBounds {
  /** Undefined where it is left out. */
  value: number | undefined;
  isReadOnly: boolean;
  onChange: (value: number) => void;
  /** Takes it away, of one that may be left out; left out, it must be one. */
  onClear?: () => void;
}

/**
 * A number within bounds. Text that is no such number stays as typed with the bounds below it, and the value is the one from before
 * the typing: a valid prefix, such as 3 of 31, is never kept.
 */
export function NumberField({ value, min, max, isInteger, isReadOnly, onChange, onClear }: NumberFieldProps) {
  const [last, setTyped] = useState<TypedNumber | null>(null);
  // An undo, or another user's change, replaces what was typed.
  const typed = last && last.saved === value ? last : null;
  const faultOf = (text: string) => (onClear && text === "" ? undefined : numberFault(text, { min, max, isInteger }));
  const fault = typed ? faultOf(typed.text) : undefined;

  const save = (next: number | undefined) => {
    if (next === value) return;
    if (next !== undefined) onChange(next);
    else onClear?.();
  };
  const type = (text: string) => {
    const next = typeNumber(text, typed ? typed.before : value, faultOf(text) === undefined);
    setTyped(next);
    save(next.saved);
  };

  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Input
        inputMode={isInteger ? "numeric" : "decimal"}
        value={typed?.text ?? (value === undefined ? "" : String(value))}
        readOnly={isReadOnly}
        aria-invalid={fault !== undefined || undefined}
        className="tabular"
        onChange={(event) => type(event.target.value)}
        onBlur={() => fault === undefined && setTyped(null)}
      />
      <FieldError>{fault}</FieldError>
    </div>
  );
}

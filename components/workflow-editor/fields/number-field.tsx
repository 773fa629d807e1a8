"use client";

import { useState } from "react";
import { Input } from "#components/ui/input.tsx";

export interface NumberFieldProps {
  /** Undefined where it is left out. */
  value: number | undefined;
  min: number | undefined;
  max: number | undefined;
  isInteger: boolean;
  isReadOnly: boolean;
  onChange: (value: number) => void;
  /** Takes it away, of one that may be left out; left out, it must be one. */
  onClear?: () => void;
}

/** A number that is taken only when it is one and within its bounds; leaving the field brings the last good one back. */
export function NumberField({ value, min, max, isInteger, isReadOnly, onChange, onClear }: NumberFieldProps) {
  const [text, setText] = useState<string | null>(null);
  const isGood = (typed: string) => {
    const number = Number(typed);
    return (
      typed.trim() !== "" &&
      Number.isFinite(number) &&
      (!isInteger || Number.isInteger(number)) &&
      number >= (min ?? -Infinity) &&
      number <= (max ?? Infinity)
    );
  };
  return (
    <Input
      inputMode={isInteger ? "numeric" : "decimal"}
      value={text ?? (value === undefined ? "" : String(value))}
      readOnly={isReadOnly}
      aria-invalid={(text !== null && !isGood(text) && !(onClear && text === "")) || undefined}
      className="tabular"
      onChange={(event) => {
        setText(event.target.value);
        if (isGood(event.target.value)) onChange(Number(event.target.value));
        else if (event.target.value === "") onClear?.();
      }}
      onBlur={() => setText(null)}
    />
  );
}

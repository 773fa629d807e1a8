"use client";

import { useState } from "react";
import { Input } from "#components/ui/input.tsx";

export interface NumberFieldProps {
  value: number;
  min: number | undefined;
  max: number | undefined;
  isInteger: boolean;
  isReadOnly: boolean;
  onChange: (value: number) => void;
}

/** A number that is taken only when it is one and within its bounds; leaving the field brings the last good one back. */
export function NumberField({ value, min, max, isInteger, isReadOnly, onChange }: NumberFieldProps) {
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
      value={text ?? String(value)}
      readOnly={isReadOnly}
      aria-invalid={(text !== null && !isGood(text)) || undefined}
      className="tabular"
      onChange={(event) => {
        setText(event.target.value);
        if (isGood(event.target.value)) onChange(Number(event.target.value));
      }}
      onBlur={() => setText(null)}
    />
  );
}

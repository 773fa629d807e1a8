"use client";

import { useState } from "react";
import { SPAN_UNITS, type SpanUnit, spanOf } from "#components/format.ts";
import { Field } from "#components/ui/field.tsx";
import { Select } from "#components/ui/select.tsx";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";

const TITLES: Record<SpanUnit, string> = { second: "Seconds", minute: "Minutes", hour: "Hours", day: "Days" };

export interface DurationFieldProps {
  value: number;
  /** In which unit `value` and its bounds are. */
  stored: SpanUnit;
  min: number | undefined;
  max: number | undefined;
  isReadOnly: boolean;
  onChange: (value: number) => void;
}

/** A span of time: a number and its unit. The unit is the reader's; what is kept is in one unit always. */
export function DurationField({ value, stored, min = 0, max = Number.POSITIVE_INFINITY, isReadOnly, onChange }: DurationFieldProps) {
  const read = () => ({ value, unit: spanOf(value * SPAN_UNITS[stored]).unit });
  // What is typed stays in the unit that it is typed in; a value from elsewhere, e.g. by an undo, is shown in its own.
  const [shown, setShown] = useState(read);
  if (shown.value !== value) setShown(read());
  const inUnit = (amount: number, unit: SpanUnit) => (amount * SPAN_UNITS[stored]) / SPAN_UNITS[unit];
  const count = Number(inUnit(value, shown.unit).toFixed(6));
  const write = (amount: number, unit: SpanUnit) => {
    const wanted = (amount * SPAN_UNITS[unit]) / SPAN_UNITS[stored];
    // Out of bounds in another unit: the span stays, and is shown in that unit.
    const next = wanted < min || wanted > max ? value : wanted;
    setShown({ value: next, unit });
    if (next !== value) onChange(next);
  };
  return (
    <div className="grid grid-cols-2 gap-2">
      <NumberField
        value={count}
        min={inUnit(min, shown.unit)}
        max={inUnit(max, shown.unit)}
        isInteger={false}
        isReadOnly={isReadOnly}
        onChange={(next) => write(next, shown.unit)}
      />
      <Field label="Unit" isLabelHidden>
        <Select
          value={shown.unit}
          disabled={isReadOnly}
          options={(Object.keys(TITLES) as SpanUnit[]).map((unit) => ({ value: unit, label: TITLES[unit] }))}
          onValueChange={(unit) => write(count, unit)}
        />
      </Field>
    </div>
  );
}

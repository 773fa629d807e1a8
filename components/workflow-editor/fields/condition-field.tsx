"use client";

import { ArrowLeftRight, Plus, Trash2 } from "lucide-react";
import { type DragEvent, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Field, useFieldControl } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import { type Connection, connection, connectionsOf } from "#components/workflow-editor/fields/connections-tree.tsx";
import { hasPredecessorValues, type LastRun, lastUpstream, type ReadableScope } from "#components/workflow-editor/fields/last-values.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { ConditionTrialChip, PythonField, type PythonFieldProps } from "#components/workflow-editor/fields/python-field.tsx";
import {
  type ConditionRow,
  type ConditionRows,
  canIgnoreCase,
  isRowValue,
  OPERATORS,
  type Operator,
  readConditionRows,
  valueName,
  writeConditionRows,
} from "#server/workflow/condition-rows.ts";

export interface ConditionFieldProps extends PythonFieldProps {
  /** True while something keeps the condition from running. */
  hasProblem: boolean;
  /** What Python has at hand here. */
  hint: string | undefined;
}

const BLANK: ConditionRow = { value: "output", operator: "contains", operand: null, ignoresCase: true };
const MAX_ROWS = 20;

/**
 * A Python condition, as rows that write it or as Python. One that says more than rows can shows its Python; what is stored is the
 * Python either way. Below it stands what it comes to on the last run.
 */
export function ConditionField({ value, hasProblem, hint, ...rest }: ConditionFieldProps) {
  const read = useMemo(() => readConditionRows(value), [value]);
  const [wanted, setWanted] = useState<"rows" | "python">(read ? "rows" : "python");
  const shown = read ? wanted : "python";
  return (
    <div className="flex flex-col gap-1.5">
      <Tabs
        label="How the condition is written"
        value={shown}
        onValueChange={setWanted}
        panelClassName="pt-2"
        tabs={[
          { value: "rows", label: "Rows", content: shown === "rows" && read && <Rows condition={value} read={read} {...rest} /> },
          { value: "python", label: "Python", content: shown === "python" && <PythonField value={value} {...rest} /> },
        ]}
      />
      {shown === "python" && hint && <p className="text-12 text-ink-faint">{hint}</p>}
      {!read && wanted === "rows" && <p className="text-12 text-ink-faint">It says more than rows can, so it stays Python.</p>}
      {!hasProblem && value.trim() !== "" && <ConditionTrialChip condition={value} />}
    </div>
  );
}

interface RowsProps extends Omit<PythonFieldProps, "value"> {
  condition: string;
  read: ConditionRows;
}

function Rows({ condition, read, maxLength, isReadOnly, onChange }: RowsProps) {
  const { readable, run, taker } = usePanelReads();
  const field = useFieldControl();
  const values = useMemo(() => rowValues(readable, run), [readable, run]);
  const { match } = read;
  const rows = read.rows.length > 0 ? read.rows : [BLANK];
  const write = (next: ConditionRow[], how = match) => onChange(writeConditionRows({ match: how, rows: next }));
  const change = (index: number, patch: Partial<ConditionRow>) =>
    write(rows.map((row, position) => (position === index ? { ...row, ...patch } : row)));

  // What is taken from the tree of connections becomes the value of the row that was last in hand.
  const inHand = useRef(0);
  const take = useRef<(code: string) => void>(() => {});
  take.current = (code) => isRowValue(code) && change(Math.min(inHand.current, rows.length - 1), { value: code });
  useEffect(() => {
    taker.current ??= take;
    return () => {
      if (taker.current === take) taker.current = null;
    };
  }, [taker]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: its name is the field's label, which a legend would say twice
    <div
      role="group"
      id={field.id}
      aria-labelledby={field["aria-labelledby"]}
      aria-describedby={field["aria-describedby"]}
      className="flex flex-col gap-2"
    >
      {rows.length > 1 && (
        <Field label="Holds when" isLabelHidden>
          <Select
            size="sm"
            value={match}
            disabled={isReadOnly}
            options={[
              { value: "all", label: "All of these hold" },
              { value: "any", label: "Any of these holds" },
            ]}
            onValueChange={(how) => write(rows, how)}
          />
        </Field>
      )}
      {rows.map((row, index) => (
        <RowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
          key={index}
          name={`Row ${index + 1}`}
          row={row}
          values={values}
          isReadOnly={isReadOnly}
          maxLength={maxLength === undefined ? undefined : Math.max(0, maxLength - condition.length)}
          onFocus={() => {
            taker.current = take;
            inHand.current = index;
          }}
          onChange={(patch) => change(index, patch)}
          onRemove={() => write(rows.toSpliced(index, 1))}
        />
      ))}
      {!isReadOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          className="self-start"
          disabled={rows.length >= MAX_ROWS}
          onClick={() => write([...rows, { ...BLANK, value: rows.at(-1)?.value ?? BLANK.value }])}
        >
          Add row
        </Button>
      )}
    </div>
  );
}

interface RowFieldsProps {
  name: string;
  row: ConditionRow;
  values: readonly RowValue[];
  isReadOnly: boolean;
  /** Characters that there is still room for. */
  maxLength: number | undefined;
  onFocus: () => void;
  onChange: (patch: Partial<ConditionRow>) => void;
  onRemove: () => void;
}

function RowFields({ name, row, values, isReadOnly, maxLength, onFocus, onChange, onRemove }: RowFieldsProps) {
  const { value, operator, operand, ignoresCase } = row;
  const { takes } = OPERATORS[operator];
  const typed = operand && "text" in operand ? operand.text : "";
  const isCompared = operand !== null && "value" in operand;
  /** A value that is dropped is read, not compared with as the text of its Python. */
  const dropInto = (take: (code: string) => void) => ({
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => {
      const code = event.dataTransfer.getData("text/plain");
      if (isReadOnly || !isRowValue(code)) return;
      event.preventDefault();
      take(code);
    },
  });
  return (
    <fieldset disabled={isReadOnly} className="flex flex-col gap-1.5 rounded-md border bg-surface p-2" onFocusCapture={onFocus}>
      <legend className="sr-only">{name}</legend>
      <div className="flex items-center gap-1" {...dropInto((code) => onChange({ value: code }))}>
        <Field label="Value" isLabelHidden className="flex-1">
          <ValueSelect value={value} values={values} isReadOnly={isReadOnly} onChange={(code) => onChange({ value: code })} />
        </Field>
        {!isReadOnly && <IconButton label={`Remove ${name}`} size="sm" icon={<Trash2 />} onClick={onRemove} />}
      </div>
      <Field label="Operator" isLabelHidden>
        <Select
          size="sm"
          value={operator}
          disabled={isReadOnly}
          options={OPERATOR_OPTIONS}
          onValueChange={(next) => onChange(withOperator(row, next))}
        />
      </Field>
      {takes !== null && (
        <div className="flex items-center gap-1" {...dropInto((code) => onChange({ operand: { value: code } }))}>
          <Field label="Compared with" isLabelHidden className="flex-1">
            {isCompared ? (
              <ValueSelect
                value={operand.value}
                values={values}
                isReadOnly={isReadOnly}
                onChange={(code) => onChange({ operand: { value: code } })}
              />
            ) : (
              <Input
                value={typed}
                // A browser shows nothing of a date that is none.
                type={takes === "day" && /^(?:\d{4}-\d\d-\d\d)?$/.test(typed) ? "date" : "text"}
                inputMode={takes === "number" ? "decimal" : undefined}
                placeholder={takes === "text" ? "Text" : takes === "number" ? "Number" : undefined}
                {...(maxLength !== undefined && { maxLength: maxLength + typed.length })}
                className="h-7 text-12"
                onChange={({ target }) => onChange({ operand: target.value === "" ? null : { text: target.value } })}
              />
            )}
          </Field>
          {!isReadOnly && (
            <IconButton
              label="Compare with another value"
              size="sm"
              icon={<ArrowLeftRight />}
              isPressed={isCompared}
              onClick={() => onChange({ operand: isCompared ? null : { value: "trigger_output" } })}
            />
          )}
        </div>
      )}
      {canIgnoreCase(operator) && (
        <Checkbox
          label="Ignore capital letters"
          checked={ignoresCase}
          disabled={isReadOnly}
          onCheckedChange={(isOn) => onChange({ ignoresCase: isOn })}
        />
      )}
    </fieldset>
  );
}

const OPERATOR_OPTIONS = Object.entries(OPERATORS).map(([operator, { title }]) => ({
  value: operator as Operator, // cast: its keys are the operators
  label: title,
}));

/** The row with another operator; what it is compared with stays where both take the same. */
function withOperator(row: ConditionRow, operator: Operator): Partial<ConditionRow> {
  const [before, after] = [OPERATORS[row.operator].takes, OPERATORS[operator].takes];
  const keeps = after !== null && (before === after || (row.operand !== null && "value" in row.operand));
  return {
    operator,
    operand: keeps ? row.operand : null,
    ignoresCase: canIgnoreCase(operator) && (row.ignoresCase || !canIgnoreCase(row.operator)),
  };
}

interface ValueSelectProps {
  value: string;
  values: readonly RowValue[];
  isReadOnly: boolean;
  onChange: (code: string) => void;
}

/** A value upstream, by its name; one that is not there any more stays until another is chosen. */
function ValueSelect({ value, values, isReadOnly, onChange }: ValueSelectProps) {
  const all = values.some(({ code }) => code === value) ? values : [{ code: value, hint: "" }, ...values];
  return (
    <Select
      size="sm"
      value={value}
      disabled={isReadOnly}
      className="font-mono"
      options={all.map(({ code, hint }) => ({ value: code, label: valueName(code), ...(hint && { description: hint.slice(0, 80) }) }))}
      onValueChange={onChange}
    />
  );
}

/** A value that a row can read. */
export interface RowValue {
  code: string;
  /** What it is, or was in the last run. */
  hint: string;
}

/** Most values that are offered, and how deep into JSON. */
const MAX_VALUES = 60;
const MAX_DEPTH = 3;

/** Everything that a row can read at a node: what came to it, then each output upstream with what is inside of it. */
export function rowValues(readable: ReadableScope, run: LastRun | null): RowValue[] {
  const known = run && hasPredecessorValues(readable, run) ? { value: lastUpstream(readable, run, true) } : undefined;
  const before = connection("output", "output", "output", known);
  const upstream = connectionsOf(readable, run).flatMap(({ values }) => values);
  const values: RowValue[] = [];
  const add = ({ python, text, inside }: Connection, depth: number) => {
    if (values.length >= MAX_VALUES || python === null) return;
    if (isRowValue(python)) values.push({ code: python, hint: text || (python === "output" ? "Output of the node before" : "") });
    if (depth < MAX_DEPTH) for (const child of inside()) add(child, depth + 1);
  };
  for (const value of [before, ...upstream]) add(value, 0);
  const isThere = values.some(({ code }) => code === "trigger_output");
  return isThere ? values : [...values, { code: "trigger_output", hint: "What started the run" }];
}

"use client";

import { Plus, Trash2 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { z } from "zod";
import { describeField } from "#components/forms/describe-field.ts";
import { isComposing } from "#components/is-composing.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";

type Row = Readonly<Record<string, unknown>>;

/** A field of one row, for whoever draws it. */
export interface RowCell {
  key: string;
  schema: z.ZodType;
  value: unknown;
  /** Whether it shares a line with the others. */
  isInLine: boolean;
  onChange: (value: unknown) => void;
}

export interface RowsFieldProps {
  /** Of the field in its node: a problem names one of its rows by it, such as `cases.1.condition`. */
  name: string;
  /** A list of objects: its items say which fields a row has, its bounds how many rows. */
  schema: z.ZodType;
  rows: readonly Row[];
  isReadOnly: boolean;
  draw: (cell: RowCell) => ReactNode;
  onChange: (rows: Row[]) => void;
}

/** What stands inside of defaults. */
export function coreOf(schema: z.ZodType): z.ZodType {
  let core = schema;
  while (core instanceof z.ZodDefault || core instanceof z.ZodOptional) core = core.unwrap() as z.ZodType;
  return core;
}

/** What the items of a list are, and how many it takes. */
function rowsOf(schema: z.ZodType): { shape: Record<string, z.ZodType>; least: number; most: number } {
  const core = coreOf(schema);
  const list = core instanceof z.ZodArray ? core : undefined;
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = (list?._zod.bag ?? {}) as { minimum?: number; maximum?: number };
  return { shape: list?.element instanceof z.ZodObject ? list.element.shape : {}, least: minimum, most: maximum };
}

/** A new row: defaults, and where rows bear an id, the first number that none has. */
function newRow(shape: Record<string, z.ZodType>, rows: readonly Row[]): Row {
  let id = rows.length + 1;
  while (rows.some((row) => row.id === String(id))) id++;
  const preset = (schema: z.ZodType) => (schema instanceof z.ZodDefault ? schema.parse(undefined) : undefined);
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, name === "id" ? String(id) : preset(schema)]));
}

/** How wide a field is beside the others of its line. */
const widthOf = (schema: z.ZodType): string =>
  describeField(schema).control === "choice" ? "3.5rem" : schema.meta()?.template ? "minmax(0,3fr)" : "minmax(0,2fr)";

/**
 * A list of objects. Each is one line, or a block where a field is a builder of its own. Enter goes on to the next line, and
 * after the last to a new one; Shift+Enter breaks a text.
 */
export function RowsField({ name, schema, rows, isReadOnly, draw, onChange }: RowsFieldProps) {
  const { shape, least, most } = rowsOf(schema);
  const item = String(schema.meta()?.item ?? "row");
  const cells = Object.entries(shape).flatMap(([key, field]) => {
    const { title } = describeField(field);
    return title === undefined ? [] : [{ key, schema: field, title }];
  });
  const isInLine = cells.every((cell) => cell.schema.meta()?.widget === undefined);
  const columns = { gridTemplateColumns: [...cells.map((cell) => widthOf(cell.schema)), ...(isReadOnly ? [] : ["1.5rem"])].join(" ") };

  const box = useRef<HTMLDivElement>(null);
  /** The row that the keyboard goes to once it is drawn; after the last one is the button. */
  const wanted = useRef<number | null>(null);
  useEffect(() => {
    if (wanted.current === null) return;
    const row = box.current?.querySelectorAll(":scope > fieldset")[wanted.current];
    (row?.querySelector<HTMLElement>("input, textarea") ?? box.current?.querySelector<HTMLElement>(":scope > button"))?.focus();
    wanted.current = null;
  });
  const change = (next: Row[], focused: number) => {
    wanted.current = focused;
    onChange(next);
  };
  const add = () => change([...rows, newRow(shape, rows)], rows.length);
  const onEnter = (event: KeyboardEvent, index: number) => {
    const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || isComposing(event) || !isText) return;
    event.preventDefault();
    const isBlank = Object.values(rows[index] ?? {}).every((value) => value === "" || value === undefined);
    if (index < rows.length - 1) {
      const next = box.current?.querySelectorAll(":scope > fieldset")[index + 1];
      next?.querySelector<HTMLElement>("input, textarea")?.focus();
    } else if (!isBlank && rows.length < most && !isReadOnly) add();
  };
  return (
    <div ref={box} className={cn("flex flex-col", isInLine ? "gap-1" : "gap-2")}>
      {isInLine && rows.length > 0 && (
        <div aria-hidden className="grid gap-1 text-12 text-ink-faint" style={columns}>
          {cells.map(({ key, title }) => (
            <span key={key}>{title}</span>
          ))}
        </div>
      )}
      {rows.map((row, index) => {
        const drawn = cells.map((cell) =>
          draw({
            ...{ key: cell.key, schema: cell.schema, value: row[cell.key], isInLine },
            onChange: (next) => onChange(rows.map((one, at) => (at === index ? { ...one, [cell.key]: next } : one))),
          }),
        );
        const remove = !isReadOnly && (
          <IconButton
            label={`Remove ${item} ${index + 1}`}
            size="sm"
            icon={<Trash2 />}
            className={isInLine ? "mt-1 pointer-coarse:mt-2" : ""}
            disabled={rows.length <= least}
            onClick={() =>
              change(
                rows.filter((_, at) => at !== index),
                index,
              )
            }
          />
        );
        return (
          <fieldset
            key={typeof row.id === "string" ? row.id : index.toString()}
            disabled={isReadOnly}
            data-field={`${name}.${index}`}
            className={isInLine ? "grid items-start gap-1" : "flex flex-col gap-2.5 rounded-md border bg-surface p-2.5"}
            {...(isInLine && { style: columns, onKeyDown: (event) => onEnter(event, index) })}
          >
            <legend className="sr-only">{`${item} ${index + 1}`}</legend>
            {cells.map(({ key, title }, position) => (
              <Field key={key} label={title} isLabelHidden={isInLine} action={!isInLine && position === 0 && remove}>
                {drawn[position]}
              </Field>
            ))}
            {isInLine && remove}
          </fieldset>
        );
      })}
      {isReadOnly && rows.length === 0 && <p className="text-12 text-ink-faint">None</p>}
      {!isReadOnly && (
        <Button size="sm" icon={<Plus />} disabled={rows.length >= most} className="self-start" onClick={add}>
          Add {item}
        </Button>
      )}
    </div>
  );
}

export interface RecordFieldProps extends Omit<RowsFieldProps, "rows" | "onChange"> {
  value: Readonly<Record<string, string>>;
  onChange: (value: Record<string, string>) => void;
}

const pairsOf = (value: Readonly<Record<string, string>>) => Object.entries(value).map(([name, text]) => ({ name, value: text }));

/** What the rows say; one that nothing was written in says nothing yet, and of a name that stands twice the last one counts. */
const recordOf = (rows: readonly Row[]) =>
  Object.fromEntries(rows.flatMap(({ name, value }) => (name || value ? [[String(name ?? ""), String(value ?? "")]] : [])));

/** Values by name, as many as one likes, in rows. What is typed stays there while a name is not whole, or is another row's too. */
export function RecordField({ schema, value, onChange, ...rest }: RecordFieldProps) {
  const [rows, setRows] = useState<readonly Row[]>(() => pairsOf(value));
  if (JSON.stringify(recordOf(rows)) !== JSON.stringify(value)) setRows(pairsOf(value));
  const core = coreOf(schema);
  const valueType = core instanceof z.ZodRecord ? (core.valueType as z.ZodString) : z.string(); // cast: a record of texts
  const pairs = z
    .array(
      z.object({
        name: z.string().max(100).default("").meta({ title: "Name" }),
        value: valueType.default("").meta({ ...valueType.meta(), title: "Value" }),
      }),
    )
    .meta({ item: schema.meta()?.item });
  return (
    <RowsField
      {...rest}
      schema={pairs}
      rows={rows}
      onChange={(next) => {
        setRows(next);
        onChange(recordOf(next));
      }}
    />
  );
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { z } from "zod";
import { describeField } from "#components/forms/describe-field.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button, type ButtonProps } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { AgentPicker } from "#components/workflow-editor/fields/agent-picker.tsx";
import { CronField } from "#components/workflow-editor/fields/cron-field.tsx";
import { ExpressionField } from "#components/workflow-editor/fields/expression-field.tsx";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";
import { ParametersField } from "#components/workflow-editor/fields/parameters-field.tsx";
import { TimezoneField } from "#components/workflow-editor/fields/timezone-field.tsx";
import { ToggleRow } from "#components/workflow-editor/fields/toggle-row.tsx";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

// Loaded with the first condition that is looked at.
const ConditionField = loadedOnUse(
  () => import("#components/workflow-editor/fields/condition-field.tsx").then((module) => module.ConditionField),
  () => <Skeleton className="h-24 w-full" />,
);

export interface SchemaFieldProps {
  nodeId: string;
  name: string;
  schema: z.ZodType;
  ui: NodeUi;
  value: unknown;
  /** What keeps the node from running, of this field. */
  problems: readonly string[];
  isReadOnly: boolean;
  onChange: (value: unknown) => void;
}

/** One config field of a node: its schema says title, bounds and control; the node's look says words for choices. */
export function SchemaField(props: SchemaFieldProps) {
  const { name, schema, ui, problems } = props;
  const { title, description: text } = describeField(schema);
  // Choices that explain themselves need no line below, nor does a builder that shows what it makes.
  const { widget } = schema.meta() ?? {};
  const isBuilder = widget === "cron" || widget === "python";
  const isClear = Object.values(ui.choices?.[name] ?? {}).some((choice) => choice.description) || isBuilder;
  const description = isClear ? undefined : text;
  return (
    <div data-field={name}>
      <Field label={title ?? name} error={problems.length ? problems.join(" ") : undefined} {...(description && { hint: description })}>
        <Control {...props} />
      </Field>
    </div>
  );
}

const SWATCHES: Record<string, string> = {
  yellow: "bg-role-state-soft",
  green: "bg-role-output-soft",
  blue: "bg-role-interface-soft",
  pink: "bg-role-human-soft",
  grey: "bg-role-flow-soft",
};

function Control({ nodeId, name, schema, ui, value, problems, isReadOnly, onChange }: SchemaFieldProps) {
  const field = describeField(schema);
  const meta = schema.meta() ?? {};
  const text = typeof value === "string" ? value : "";
  switch (meta.widget) {
    case "agent":
      return <AgentPicker value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "parameters":
      return (
        <ParametersField value={Array.isArray(value) ? (value as TriggerParameter[]) : []} isReadOnly={isReadOnly} onChange={onChange} />
      );
    case "python":
      return (
        <ConditionField
          value={text}
          hint={field.description}
          maxLength={field.max}
          isReadOnly={isReadOnly}
          hasProblem={problems.length > 0}
          onChange={onChange}
        />
      );
    case "rows":
      return <RowsField {...{ nodeId, name, schema, ui, value, problems, isReadOnly, onChange }} />;
    case "record":
      return <RecordField value={(value ?? {}) as Record<string, string>} {...{ problems, isReadOnly, onChange }} />;
    case "workflow":
      return <WorkflowPicker value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "group":
      return <GroupField {...{ nodeId, name, schema, ui, value, problems, isReadOnly, onChange }} />;
    case "cron":
      return <CronField nodeId={nodeId} value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "timezone":
      return <TimezoneField value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "color":
      return (
        <span className="flex gap-2">
          {Object.entries(ui.choices?.[name] ?? {}).map(([colour, { label }]) => (
            <button
              key={colour}
              type="button"
              aria-label={label}
              aria-pressed={colour === text}
              disabled={isReadOnly}
              className={cn(
                "size-7 rounded-full border border-line-control aria-pressed:outline-2 aria-pressed:outline-thread aria-pressed:outline-offset-2",
                SWATCHES[colour],
              )}
              onClick={() => onChange(colour)}
            />
          ))}
        </span>
      );
    default:
  }
  if (meta.template)
    return (
      <ExpressionField
        value={text}
        problems={problems}
        maxLength={field.max}
        isReadOnly={isReadOnly}
        rows={meta.widget === "textarea" ? 4 : 1}
        onChange={onChange}
      />
    );
  switch (field.control) {
    case "number":
      return (
        <NumberField
          value={typeof value === "number" ? value : 0}
          min={field.min}
          max={field.max}
          isInteger={field.isInteger}
          isReadOnly={isReadOnly}
          onChange={onChange}
        />
      );
    case "boolean":
      return <Switch checked={value === true} disabled={isReadOnly} onCheckedChange={onChange} />;
    case "choices":
      return (
        <ToggleRow
          options={field.options.map((option) => ({ value: option, label: ui.choices?.[name]?.[option]?.label ?? option }))}
          value={Array.isArray(value) ? value.map(String) : []}
          isReadOnly={isReadOnly}
          className="font-mono text-11"
          onChange={onChange}
        />
      );
    case "choice":
      return (
        <Select
          value={text}
          disabled={isReadOnly}
          options={field.options.map((option) => {
            const words = ui.choices?.[name]?.[option];
            return { value: option, label: words?.label ?? option, ...(words?.description && { description: words.description }) };
          })}
          onValueChange={onChange}
        />
      );
    default:
      return meta.widget === "textarea" || meta.widget === "markdown" || meta.widget === "code" ? (
        <Textarea
          rows={meta.widget === "markdown" ? 8 : 3}
          value={text}
          readOnly={isReadOnly}
          className={meta.widget === "textarea" ? "" : "font-mono text-12"}
          {...(field.max !== undefined && { maxLength: field.max })}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Input
          value={text}
          readOnly={isReadOnly}
          {...(field.max !== undefined && { maxLength: field.max })}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}

interface RecordFieldProps {
  value: Readonly<Record<string, string>>;
  problems: readonly string[];
  isReadOnly: boolean;
  onChange: (value: Record<string, string>) => void;
}

/** Values by name, as many as one likes. */
function RecordField({ value, problems, isReadOnly, onChange }: RecordFieldProps) {
  const entries = Object.entries(value);
  const change = (index: number, name: string, text: string) =>
    onChange(Object.fromEntries(entries.map((entry, at) => (at === index ? [name, text] : entry))));
  const fresh = `value_${entries.length + 1}`;
  return (
    <div className="flex flex-col gap-2">
      {entries.map(([name, text], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names change while typing
        <fieldset key={index} disabled={isReadOnly} className="flex flex-col gap-2.5 rounded-md border bg-surface p-2.5">
          <Field
            label="Name"
            action={
              !isReadOnly && (
                <IconButton
                  label={`Remove ${name}`}
                  size="sm"
                  icon={<Trash2 />}
                  onClick={() => onChange(Object.fromEntries(entries.filter((_, at) => at !== index)))}
                />
              )
            }
          >
            <Input value={name} maxLength={100} onChange={(event) => change(index, event.target.value, text)} />
          </Field>
          <Field label="Value">
            <ExpressionField value={text} {...{ problems, isReadOnly }} rows={1} onChange={(next) => change(index, name, next)} />
          </Field>
        </fieldset>
      ))}
      {!isReadOnly && <AddButton disabled={Object.hasOwn(value, fresh)} onClick={() => onChange({ ...value, [fresh]: "" })} />}
    </div>
  );
}

/** Another workflow of the project. */
function WorkflowPicker({ value, isReadOnly, onChange }: { value: string; isReadOnly: boolean; onChange: (id: string) => void }) {
  const trpc = useTRPC();
  const { workflowId } = useSession();
  const { data, isPending } = useQuery(trpc.workflows.list.queryOptions({ per_page: 200 }));
  const others = data?.items.filter(({ id }) => id !== workflowId) ?? [];
  const isKnown = others.some(({ id }) => id === value);
  return (
    <Select
      value={isKnown ? value : ""}
      disabled={isReadOnly || isPending || others.length === 0}
      placeholder={isPending ? "Loading workflows…" : value ? "A workflow that is gone" : "Choose a workflow"}
      options={others.map(({ id, name }) => ({ value: id, label: name }))}
      onValueChange={onChange}
    />
  );
}

type Row = Readonly<Record<string, unknown>>;

/** What stands inside of defaults. */
function coreOf(schema: z.ZodType): z.ZodType {
  let core = schema;
  while (core instanceof z.ZodDefault || core instanceof z.ZodOptional) core = core.unwrap() as z.ZodType;
  return core;
}

/** Fields that belong together, in one value. */
function GroupField({ nodeId, name, schema, ui, value, problems, isReadOnly, onChange }: SchemaFieldProps) {
  const core = coreOf(schema);
  const shape: Record<string, z.ZodType> = core instanceof z.ZodObject ? core.shape : {};
  const group = (value ?? {}) as Row;
  return (
    <fieldset disabled={isReadOnly} className="flex flex-col gap-2.5 rounded-md border bg-surface p-2.5">
      {Object.entries(shape).map(([key, field]) => {
        const { title, description } = describeField(field);
        return (
          <Field key={key} label={title ?? key} {...(description && { hint: description })}>
            <Control
              {...{ nodeId, ui, problems, isReadOnly }}
              name={`${name}.${key}`}
              schema={field}
              value={group[key]}
              onChange={(next) => onChange({ ...group, [key]: next })}
            />
          </Field>
        );
      })}
    </fieldset>
  );
}

/** What the items of a list are, and how many it takes. */
function rowsOf(schema: z.ZodType): { shape: Record<string, z.ZodType>; least: number; most: number } {
  const core = coreOf(schema);
  const list = core instanceof z.ZodArray ? core : undefined;
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = (list?._zod.bag ?? {}) as { minimum?: number; maximum?: number };
  return { shape: list?.element instanceof z.ZodObject ? list.element.shape : {}, least: minimum, most: maximum };
}

/** A new item: defaults, and where items bear an id, the first number that none has. */
function newRow(shape: Record<string, z.ZodType>, rows: readonly Row[]): Row {
  let id = rows.length + 1;
  while (rows.some((row) => row.id === String(id))) id++;
  const preset = (schema: z.ZodType) => (schema instanceof z.ZodDefault ? schema.parse(undefined) : undefined);
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, name === "id" ? String(id) : preset(schema)]));
}

/** A list of objects: one block an item, with the controls that its fields' schemas say. */
function RowsField({ nodeId, name, schema, ui, value, problems, isReadOnly, onChange }: SchemaFieldProps) {
  const { shape, least, most } = rowsOf(schema);
  const rows = Array.isArray(value) ? (value as Row[]) : [];
  const titled = Object.entries(shape).filter(([, field]) => describeField(field).title);
  return (
    <div className="flex flex-col gap-2">
      {rows.map((row, index) => (
        <fieldset
          key={typeof row.id === "string" ? row.id : index.toString()}
          disabled={isReadOnly}
          className="flex flex-col gap-2.5 rounded-md border bg-surface p-2.5"
        >
          <legend className="sr-only">{index + 1}</legend>
          {titled.map(([key, field], position) => (
            <Field
              key={key}
              label={describeField(field).title ?? key}
              action={
                position === 0 &&
                !isReadOnly && (
                  <IconButton
                    label={`Remove ${index + 1}`}
                    size="sm"
                    icon={<Trash2 />}
                    disabled={rows.length <= least}
                    onClick={() => onChange(rows.filter((_, at) => at !== index))}
                  />
                )
              }
            >
              <Control
                {...{ nodeId, ui, problems, isReadOnly }}
                name={`${name}.${key}`}
                schema={field}
                value={row[key]}
                onChange={(next) => onChange(rows.map((one, at) => (at === index ? { ...one, [key]: next } : one)))}
              />
            </Field>
          ))}
        </fieldset>
      ))}
      {!isReadOnly && <AddButton disabled={rows.length >= most} onClick={() => onChange([...rows, newRow(shape, rows)])} />}
    </div>
  );
}

const AddButton = (button: Pick<ButtonProps, "disabled" | "onClick">) => (
  <Button size="sm" icon={<Plus />} className="self-start" {...button}>
    Add
  </Button>
);

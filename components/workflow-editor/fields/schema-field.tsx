"use client";

import type { z } from "zod";
import { describeField } from "#components/forms/describe-field.ts";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { AgentPicker } from "#components/workflow-editor/fields/agent-picker.tsx";
import { CronField } from "#components/workflow-editor/fields/cron-field.tsx";
import { ExpressionField } from "#components/workflow-editor/fields/expression-field.tsx";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";
import { ParametersField } from "#components/workflow-editor/fields/parameters-field.tsx";
import { PythonField } from "#components/workflow-editor/fields/python-field.tsx";
import { TimezoneField } from "#components/workflow-editor/fields/timezone-field.tsx";
import { ToggleRow } from "#components/workflow-editor/fields/toggle-row.tsx";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";
import type { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

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
  const isClear = Object.values(ui.choices?.[name] ?? {}).some((choice) => choice.description) || schema.meta()?.widget === "cron";
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
        <PythonField value={text} maxLength={field.max} isReadOnly={isReadOnly} hasProblem={problems.length > 0} onChange={onChange} />
      );
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

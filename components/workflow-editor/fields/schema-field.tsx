"use client";

import { z } from "zod";
import { describeField } from "#components/forms/describe-field.ts";
import { WorkflowSelect } from "#components/shell/workflow-select.tsx";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { AgentPicker } from "#components/workflow-editor/fields/agent-picker.tsx";
import { AssigneesField } from "#components/workflow-editor/fields/assignees-field.tsx";
import { ChildParameters, useChildTrigger, VersionField } from "#components/workflow-editor/fields/child-workflow.tsx";
import { CodeField } from "#components/workflow-editor/fields/code-field.tsx";
import { CredentialPicker } from "#components/workflow-editor/fields/credential-picker.tsx";
import { CronField } from "#components/workflow-editor/fields/cron-field.tsx";
import { DurationField } from "#components/workflow-editor/fields/duration-field.tsx";
import { ExpressionField } from "#components/workflow-editor/fields/expression-field.tsx";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";
import { ParametersField } from "#components/workflow-editor/fields/parameters-field.tsx";
import { coreOf, RecordField, type RowCell, RowsField } from "#components/workflow-editor/fields/rows-field.tsx";
import { TimezoneField } from "#components/workflow-editor/fields/timezone-field.tsx";
import { ToggleRow } from "#components/workflow-editor/fields/toggle-row.tsx";
import type { NodeConfig, NodeUi } from "#components/workflow-editor/nodes/types.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { type Assignee, MAX_ASSIGNEES } from "#server/workflow/nodes/review-terms.ts";
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
  /** The node's whole config, for a field that goes by another one. */
  config: Readonly<Record<string, unknown>>;
  /** Errors of this field, which prevent a run. */
  problems: readonly string[];
  /** Warnings of this field, which do not. */
  warnings?: readonly string[];
  isReadOnly: boolean;
  onChange: (value: unknown) => void;
}

/** One config field of a node: its schema says title, bounds and control; the node's look says words for choices. */
export function SchemaField(props: SchemaFieldProps) {
  const { widget } = props.schema.meta() ?? {};
  return widget === "params" || widget === "text-or-params" ? <GivenField {...props} /> : <DrawnField {...props} />;
}

/** What another workflow is given: a form is filled in field by field, any other trigger takes a text. What stands in the one that is not asked for is shown too. */
function GivenField(props: SchemaFieldProps) {
  const { schema, value, config } = props;
  const child = useChildTrigger(config);
  const isForm = child?.kind === "params";
  const isAskedFor = isForm === (schema.meta()?.widget === "params");
  const isEmpty = value === "" || Object.keys(value ?? {}).length === 0;
  return isAskedFor || !isEmpty ? <DrawnField {...props} child={child} /> : null;
}

function DrawnField(props: Omit<ControlProps, "isInLine">) {
  const { name, schema, ui, child, problems, warnings = [] } = props;
  const { title, description: text } = describeField(schema);
  // Choices that explain themselves need no line below, nor does a builder that shows what it makes.
  const { widget } = schema.meta() ?? {};
  const isBuilder = widget === "cron" || widget === "python" || widget === "version" || child?.kind === "params";
  const isClear = Object.values(ui.choices?.[name] ?? {}).some((choice) => choice.description) || isBuilder;
  const description = isClear ? undefined : text;
  return (
    <div data-field={name}>
      <Field
        label={title ?? name}
        error={problems.length ? problems.join(" ") : undefined}
        warning={warnings.length ? warnings.join(" ") : undefined}
        {...(description && { hint: description })}
      >
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

interface ControlProps extends SchemaFieldProps {
  /** Whether it shares a line with others. */
  isInLine?: boolean;
  /** Of values for another workflow: its trigger, as far as it is known. */
  child?: NodeConfig<"triggerNode"> | undefined;
}

function Control({ nodeId, name, schema, ui, value, config, problems, isReadOnly, isInLine = false, child, onChange }: ControlProps) {
  const field = describeField(schema);
  const meta = schema.meta() ?? {};
  const text = typeof value === "string" ? value : "";
  const draw = ({ key, ...cell }: RowCell) => (
    <Control {...{ nodeId, ui, config, problems, isReadOnly, ...cell }} name={`${name}.${key}`} />
  );
  switch (meta.widget) {
    case "agent":
      return <AgentPicker value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "assignees": {
      const isOne = !Array.isArray(value);
      const named = (isOne ? (value ? [value] : []) : value) as Assignee[];
      const change = (next: Assignee[]) => onChange(isOne ? (next[0] ?? null) : next);
      return <AssigneesField value={named} most={isOne ? 1 : MAX_ASSIGNEES} isReadOnly={isReadOnly} onChange={change} />;
    }
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
      return <RowsField rows={Array.isArray(value) ? value : []} {...{ name, schema, isReadOnly, draw, onChange }} />;
    case "params": {
      const others = (values: Record<string, string>, write: (values: Record<string, string>) => void) => (
        <RecordField value={values} {...{ name, schema, isReadOnly, draw }} onChange={write} />
      );
      const values = (value ?? {}) as Record<string, string>;
      if (child?.kind !== "params") return others(values, onChange);
      return <ChildParameters parameters={child.parameters} value={values} {...{ problems, isReadOnly, onChange, others }} />;
    }
    case "version":
      return <VersionField child={config} {...{ value, isReadOnly, onChange }} />;
    case "credential":
      return <CredentialPicker value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "code":
      return (
        <CodeField value={text} inputs={namesIn(config.inputs)} maxLength={field.max} {...{ nodeId, problems, isReadOnly, onChange }} />
      );
    case "workflow":
      return <OtherWorkflow value={text} isReadOnly={isReadOnly} onChange={onChange} />;
    case "duration":
      return (
        <DurationField
          value={Number(value) || 0}
          stored={meta.unit === "hour" ? "hour" : "second"}
          {...{ min: field.min, max: field.max, isReadOnly, onChange }}
        />
      );
    case "group":
      return <GroupField {...{ nodeId, name, schema, ui, value, config, problems, isReadOnly, onChange }} />;
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
  if (meta.template) {
    const expression = (
      <ExpressionField
        value={text}
        problems={problems}
        maxLength={field.max}
        isReadOnly={isReadOnly}
        rows={meta.widget === "textarea" || meta.widget === "text-or-params" ? 4 : 1}
        isInLine={isInLine}
        onChange={onChange}
      />
    );
    if (meta.widget !== "moment" || isReadOnly) return expression;
    return (
      <div className="flex flex-col gap-1.5">
        {expression}
        <MomentPicker value={text} onChange={onChange} />
      </div>
    );
  }
  switch (field.control) {
    case "number":
      return (
        <NumberField
          value={typeof value === "number" ? value : undefined}
          {...(schema instanceof z.ZodOptional && { onClear: () => onChange(undefined) })}
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
          className="font-mono text-12"
          onChange={onChange}
        />
      );
    case "choice":
      return (
        <Select
          value={text}
          disabled={isReadOnly}
          {...(isInLine && { className: "gap-0.5 pr-1 pl-2" })}
          options={field.options.map((option) => {
            const words = ui.choices?.[name]?.[option];
            const { label = option, sign, description } = words ?? {};
            return { value: option, label, ...(isInLine && sign && { sign }), ...(description && { description }) };
          })}
          onValueChange={onChange}
        />
      );
    default:
      return meta.widget === "textarea" || meta.widget === "markdown" ? (
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

/** Names of the rows of a list, those that have one. */
const namesIn = (rows: unknown): string[] =>
  Array.isArray(rows) ? rows.flatMap(({ name }: { name?: unknown }) => (typeof name === "string" && name.trim() ? [name.trim()] : [])) : [];

/** Another workflow than this one. */
function OtherWorkflow({ value, isReadOnly, onChange }: { value: string; isReadOnly: boolean; onChange: (id: string) => void }) {
  const { workflowId } = useSession();
  return <WorkflowSelect value={value} except={workflowId} disabled={isReadOnly} onValueChange={(id) => onChange(id ?? "")} />;
}

/** A moment by the clock and the calendar of whoever picks it, written as ISO 8601 in UTC. */
function MomentPicker({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const time = /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : undefined;
  // Such a field knows no zone: it is given the time on the wall.
  const isTime = time !== undefined && !Number.isNaN(time.getTime());
  const onWall = isTime ? new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";
  return (
    <Field label="Pick a time, by your clock" isLabelHidden>
      <Input
        type="datetime-local"
        value={onWall}
        className="text-12"
        onChange={({ target }) => {
          const picked = new Date(target.value);
          if (!Number.isNaN(picked.getTime())) onChange(picked.toISOString().replace(".000Z", "Z"));
        }}
      />
    </Field>
  );
}

/** Fields that belong together, in one value. */
function GroupField({ nodeId, name, schema, ui, value, config, problems, isReadOnly, onChange }: SchemaFieldProps) {
  const core = coreOf(schema);
  const shape: Record<string, z.ZodType> = core instanceof z.ZodObject ? core.shape : {};
  const group = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    <fieldset disabled={isReadOnly} className="flex flex-col gap-2.5 rounded-md border bg-surface p-2.5">
      {Object.entries(shape).map(([key, field]) => {
        const { title, description } = describeField(field);
        return (
          <Field key={key} label={title ?? key} {...(description && { hint: description })}>
            <Control
              {...{ nodeId, ui, config, problems, isReadOnly }}
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

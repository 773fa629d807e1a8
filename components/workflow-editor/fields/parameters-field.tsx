"use client";

import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";
import { PanelDisclosure } from "#components/workflow-editor/fields/panel-disclosure.tsx";
import { RunForm } from "#components/workflow-editor/fields/run-form.tsx";
import { initialText } from "#components/workflow-editor/fields/run-values.ts";
import { booleanOf } from "#server/workflow/nodes/params.ts";
import { TriggerParameter, triggerNode } from "#server/workflow/nodes/trigger-node.ts";

type ParameterType = TriggerParameter["type"];
const TYPES: Record<ParameterType, string> = {
  text: "Text",
  number: "Number",
  boolean: "Yes or no",
  select: "One of several",
  array: "List (JSON)",
  object: "Object (JSON)",
};
const MAX_PARAMETERS = 50;

export interface ParametersFieldProps {
  value: readonly TriggerParameter[];
  isReadOnly: boolean;
  onChange: (value: TriggerParameter[]) => void;
}

/** The form that a run asks for: one card a value, in the order of the form. */
export function ParametersField({ value, isReadOnly, onChange }: ParametersFieldProps) {
  const change = (index: number, patch: Partial<TriggerParameter>) =>
    onChange(value.map((parameter, position) => (position === index ? { ...parameter, ...patch } : parameter)));
  const move = (index: number, by: number) => {
    const next = [...value];
    const [moved] = next.splice(index, 1);
    if (moved) next.splice(index + by, 0, moved);
    onChange(next);
  };
  const add = () => {
    const names = new Set(value.map((parameter) => parameter.name));
    let count = value.length + 1;
    while (names.has(`value_${count}`)) count += 1;
    onChange([...value, TriggerParameter.parse({ name: `value_${count}` })]);
  };
  return (
    <div className="flex flex-col gap-2">
      {value.map((parameter, index) => (
        <ParameterCard
          // biome-ignore lint/suspicious/noArrayIndexKey: parameters have no identity of their own, and their names change while typing
          key={index}
          parameter={parameter}
          isReadOnly={isReadOnly}
          isFirst={index === 0}
          isLast={index === value.length - 1}
          isTwice={value.some((other, position) => position !== index && other.name === parameter.name)}
          onChange={(patch) => change(index, patch)}
          onMove={(by) => move(index, by)}
          onRemove={() => onChange(value.filter((_, position) => position !== index))}
        />
      ))}
      {!isReadOnly && (
        <Button size="sm" icon={<Plus />} disabled={value.length >= MAX_PARAMETERS} className="self-start" onClick={add}>
          Add parameter
        </Button>
      )}
      <ParametersPreview parameters={value} />
    </div>
  );
}

interface CardProps {
  parameter: TriggerParameter;
  isReadOnly: boolean;
  isFirst: boolean;
  isLast: boolean;
  isTwice: boolean;
  onChange: (patch: Partial<TriggerParameter>) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

function ParameterCard({ parameter, isReadOnly, isFirst, isLast, isTwice, onChange, onMove, onRemove }: CardProps) {
  const { name, label, type, required, options } = parameter;
  const checked = TriggerParameter.shape.name.safeParse(name);
  const error = checked.success
    ? isTwice
      ? "Another parameter has this name."
      : undefined
    : name === ""
      ? "Give it a name."
      : checked.error.issues[0]?.message;
  return (
    <fieldset disabled={isReadOnly} className="flex flex-col gap-2.5 rounded-md border bg-surface p-2.5">
      <legend className="sr-only">Parameter {name}</legend>
      <Field
        label="Name"
        error={error}
        hint={<code className="font-mono text-12">{`{{trigger.${name || "…"}}}`}</code>}
        action={<Actions {...{ name, isReadOnly, isFirst, isLast, onMove, onRemove }} />}
      >
        <Input
          value={name}
          maxLength={60}
          spellCheck={false}
          className="font-mono text-12"
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      <div className="grid grid-cols-2 gap-2">
        <Field label="Label">
          <Input value={label} maxLength={120} placeholder={name} onChange={(event) => onChange({ label: event.target.value })} />
        </Field>
        <Field label="Type">
          <Select
            value={type}
            disabled={isReadOnly}
            options={(Object.keys(TYPES) as ParameterType[]).map((key) => ({ value: key, label: TYPES[key] }))}
            onValueChange={(next) => onChange({ type: next, default: undefined })}
          />
        </Field>
      </div>
      {type === "select" && (
        <Field label="Options" hint="One a line">
          <Textarea
            rows={2}
            value={(options ?? []).join("\n")}
            onChange={(event) => onChange({ options: event.target.value === "" ? [] : event.target.value.split("\n") })}
          />
        </Field>
      )}
      <Field label="Default" isOptional>
        {type === "boolean" || type === "select" ? (
          <ChoiceOfDefault parameter={parameter} isReadOnly={isReadOnly} onChange={(next) => onChange({ default: next })} />
        ) : (
          <Input
            value={initialText(parameter)}
            className={type === "array" || type === "object" ? "font-mono text-12" : ""}
            onChange={(event) => onChange({ default: event.target.value === "" ? undefined : event.target.value })}
          />
        )}
      </Field>
      <Checkbox
        label="Must be filled in"
        checked={required}
        disabled={isReadOnly}
        onCheckedChange={(isOn) => onChange({ required: isOn })}
      />
    </fieldset>
  );
}

interface ChoiceOfDefaultProps {
  parameter: TriggerParameter;
  isReadOnly: boolean;
  onChange: (value: unknown) => void;
}

/** The default of a parameter that takes one of a few values; one that is none of them shows as not chosen. */
function ChoiceOfDefault({ parameter, isReadOnly, onChange }: ChoiceOfDefaultProps) {
  const { type, options, default: value } = parameter;
  const choices =
    type === "boolean"
      ? [
          { label: "Off", value: false },
          { label: "On", value: true },
        ]
      : [...new Set(options)].filter(Boolean).map((option) => ({ label: option, value: option }));
  const all = [{ label: "None", value: undefined }, ...choices];
  const isNone = value === undefined || value === null || value === "";
  const current = type === "boolean" ? booleanOf(value) : value;
  const at = isNone ? 0 : choices.findIndex((choice) => choice.value === current) + 1;
  return (
    <Select
      value={isNone || at > 0 ? String(at) : ""}
      disabled={isReadOnly}
      options={all.map(({ label }, index) => ({ value: String(index), label }))}
      onValueChange={(next) => onChange(all[Number(next)]?.value)}
    />
  );
}

function Actions({
  name,
  isReadOnly,
  isFirst,
  isLast,
  onMove,
  onRemove,
}: Pick<CardProps, "isReadOnly" | "isFirst" | "isLast" | "onMove" | "onRemove"> & { name: string }) {
  if (isReadOnly) return null;
  return (
    <span className="flex">
      <IconButton label={`Move ${name} up`} size="sm" icon={<ArrowUp />} disabled={isFirst} onClick={() => onMove(-1)} />
      <IconButton label={`Move ${name} down`} size="sm" icon={<ArrowDown />} disabled={isLast} onClick={() => onMove(1)} />
      <IconButton label={`Remove ${name}`} size="sm" icon={<Trash2 />} onClick={onRemove} />
    </span>
  );
}

/** The form as a run asks with it, of what is filled in so far; its button starts nothing. */
export function ParametersPreview({ parameters }: { parameters: readonly TriggerParameter[] }) {
  const whole = parameters.filter(
    ({ name }, index) =>
      TriggerParameter.shape.name.safeParse(name).success && parameters.findIndex((other) => other.name === name) === index,
  );
  if (whole.length === 0) return null;
  const trigger = triggerNode.config.parse({ kind: "params", parameters: whole });
  return (
    <PanelDisclosure title="Preview of the run form">
      <div className="border-t bg-raised p-3">
        {/* Made anew with each change, so that it shows what a run would show. */}
        <RunForm key={JSON.stringify(whole)} trigger={trigger} last={{}} isPending={false} isPreview onRun={() => {}} />
      </div>
    </PanelDisclosure>
  );
}

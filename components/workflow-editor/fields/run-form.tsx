"use client";

import { Play } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { coerceParameter, initialText } from "#components/workflow-editor/fields/run-values.ts";
import type { NodeConfig } from "#components/workflow-editor/nodes/types.ts";
import { own } from "#server/shared/json-text.ts";
import type { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

export interface RunValues {
  input?: string;
  params?: Record<string, unknown>;
}

export interface RunFormProps {
  trigger: NodeConfig<"triggerNode">;
  /** What was given the last time. */
  last: Record<string, string>;
  isPending: boolean;
  onRun: (values: RunValues, texts: Record<string, string>) => void;
  /** Only to be looked at: it can be filled in, and starts nothing. */
  isPreview?: boolean;
  /** In place of "Start run". */
  submitLabel?: string;
}

const isJson = (kind: NodeConfig<"triggerNode">["kind"]) => kind === "webhook" || kind === "http";

/** A request as the HTTP trigger would pass it on, to be changed. */
const SAMPLE_REQUEST = JSON.stringify({ method: "POST", headers: {}, body: {} }, null, 2);

function firstInput({ kind, default_input }: NodeConfig<"triggerNode">): string {
  if (kind === "http") return SAMPLE_REQUEST;
  return kind === "webhook" ? "{}" : default_input;
}

function inputLabel({ kind, input_label }: NodeConfig<"triggerNode">): string {
  if (kind === "http") return "Request, as JSON";
  if (kind === "webhook") return "Payload, as JSON";
  return (kind === "manual" && input_label) || "Input";
}

/** What the trigger asks for, with its defaults; ⌘/Ctrl+Enter runs. */
export function RunForm({ trigger, last, isPending, onRun, isPreview = false, submitLabel = "Start run" }: RunFormProps) {
  const isForm = trigger.kind === "params";
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    isForm
      ? Object.fromEntries(trigger.parameters.map((parameter) => [parameter.name, own(last, parameter.name) ?? initialText(parameter)]))
      : { input: last.input ?? firstInput(trigger) },
  );
  const [errors, setErrors] = useState<Record<string, string>>({});
  const set = (name: string, text: string) => {
    setTexts((current) => ({ ...current, [name]: text }));
    setErrors(({ [name]: _, ...rest }) => rest);
  };

  const run = () => {
    if (isPreview) return;
    if (!isForm) return onRun({ input: texts.input ?? "" }, texts);
    const found: Record<string, string> = {};
    const params: Record<string, unknown> = {};
    for (const parameter of trigger.parameters) {
      const result = coerceParameter(parameter, own(texts, parameter.name) ?? "");
      if ("error" in result) found[parameter.name] = result.error;
      else if (result.value !== undefined) params[parameter.name] = result.value;
    }
    setErrors(found);
    if (Object.keys(found).length === 0) onRun({ params }, texts);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || isComposing(event) || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  return (
    <form
      noValidate
      aria-label={isPreview ? "Preview of the run form" : "Run with"}
      className="flex flex-col gap-3"
      onKeyDown={onKeyDown}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        run();
      }}
    >
      {!isForm && (
        <Field label={inputLabel(trigger)} hint="Read as {{trigger.output}}">
          <Textarea
            autoFocus={!isPreview}
            rows={trigger.kind === "http" ? 6 : 3}
            value={texts.input ?? ""}
            className={isJson(trigger.kind) ? "font-mono text-12" : ""}
            onChange={(event) => set("input", event.target.value)}
          />
        </Field>
      )}
      {isForm &&
        trigger.parameters.map((parameter, index) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            text={own(texts, parameter.name) ?? ""}
            error={own(errors, parameter.name)}
            isFirst={index === 0 && !isPreview}
            onChange={(text) => set(parameter.name, text)}
          />
        ))}
      <Button type="submit" variant="primary" icon={<Play />} isPending={isPending} disabled={isPreview} className="self-end">
        {submitLabel}
      </Button>
    </form>
  );
}

interface ParameterFieldProps {
  parameter: TriggerParameter;
  text: string;
  error: string | undefined;
  isFirst: boolean;
  onChange: (text: string) => void;
}

function ParameterField({ parameter, text, error, isFirst, onChange }: ParameterFieldProps) {
  const { type, name, label, required, options } = parameter;
  const control =
    type === "boolean" ? (
      <Switch checked={text === "true"} onCheckedChange={(isOn) => onChange(String(isOn))} />
    ) : type === "select" ? (
      <Select value={text} options={(options ?? []).map((option) => ({ value: option, label: option }))} onValueChange={onChange} />
    ) : type === "number" ? (
      <Input inputMode="decimal" autoFocus={isFirst} value={text} onChange={(event) => onChange(event.target.value)} />
    ) : (
      <Textarea
        rows={type === "text" ? 1 : 3}
        autoFocus={isFirst}
        value={text}
        className={type === "text" ? "" : "font-mono text-12"}
        placeholder={type === "array" ? "[ ]" : type === "object" ? "{ }" : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <Field
      label={label || name}
      isRequired={required}
      isOptional={!required}
      error={error}
      {...((type === "array" || type === "object") && { hint: type === "array" ? "A JSON list" : "A JSON object" })}
    >
      {control}
    </Field>
  );
}

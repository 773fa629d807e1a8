"use client";

import type { ComponentProps, ReactNode } from "react";
import type { z } from "zod";
import type { FieldDescription } from "#components/forms/describe-field.ts";
import type { UseFormReturn } from "#components/forms/use-form.ts";
import { Field } from "#components/ui/field.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Switch } from "#components/ui/switch.tsx";

const Select = loadedOnUse(() => import("#components/ui/select.tsx").then((module) => module.Select));

export interface FormFieldProps<Schema extends z.ZodObject>
  extends Pick<ComponentProps<"input">, "placeholder" | "autoComplete" | "autoFocus" | "disabled"> {
  form: UseFormReturn<Schema>;
  name: keyof z.input<Schema> & string;
  /** In place of the schema's title. */
  label?: string;
  /** In place of the schema's description; null for none. */
  hint?: ReactNode;
  /** For secrets and addresses; the schema says everything else. */
  type?: "password" | "email" | "url" | "text";
  rows?: number;
  isOptional?: boolean;
  /** Sets the value in the typeface of code. */
  isCode?: boolean;
  action?: ReactNode;
  className?: string;
  /** In place of the control that the schema suggests. */
  children?: ReactNode;
}

/** One field of a form: label, bounds and control come from the schema, the error from the form. */
export function FormField<Schema extends z.ZodObject>(props: FormFieldProps<Schema>) {
  const { form, name, label, hint, isOptional, action, className, children } = props;
  const field = form.describe(name);
  const text = hint === undefined ? field.description : hint;
  return (
    <Field
      label={label ?? field.title ?? name}
      {...(text !== null && text !== undefined && { hint: text })}
      error={form.errorOf(name)}
      isRequired={field.isRequired}
      isOptional={isOptional ?? false}
      {...(action !== undefined && { action })}
      {...(className !== undefined && { className })}
    >
      {children ?? <SchemaControl {...props} field={field} />}
    </Field>
  );
}

type ControlProps<Schema extends z.ZodObject> = FormFieldProps<Schema> & { field: FieldDescription };

function SchemaControl<Schema extends z.ZodObject>({
  form,
  name,
  field,
  type,
  rows,
  isCode,
  placeholder,
  autoComplete,
  autoFocus,
  disabled = false,
}: ControlProps<Schema>) {
  const value: unknown = form.values[name];
  const set = (next: unknown) => form.set(name, next as z.input<Schema>[typeof name]);
  const text = typeof value === "string" ? value : "";
  const common = {
    name,
    disabled,
    ...(placeholder !== undefined && { placeholder }),
    ...(autoComplete !== undefined && { autoComplete }),
    ...(autoFocus !== undefined && { autoFocus }),
    ...(isCode && { className: "font-mono" }),
  };
  // A secret may be long, but it is hidden while it is typed.
  switch (type !== undefined && field.control === "textarea" ? "text" : field.control) {
    case "boolean":
      return <Switch checked={value === true} onCheckedChange={set} disabled={disabled} />;
    case "choice":
      return (
        <Select
          value={text}
          onValueChange={set}
          options={field.options.map((option) => ({ value: option, label: option }))}
          disabled={disabled}
        />
      );
    case "number":
      return (
        <Input
          {...common}
          type="number"
          inputMode={field.isInteger ? "numeric" : "decimal"}
          step={field.isInteger ? 1 : "any"}
          value={typeof value === "number" ? value : ""}
          onChange={(event) => set(event.target.value === "" ? (field.isNullable ? null : undefined) : event.target.valueAsNumber)}
        />
      );
    case "textarea":
      return <Textarea {...common} rows={rows ?? 4} value={text} onChange={(event) => set(event.target.value)} />;
    default:
      return (
        <Input
          {...common}
          type={type ?? "text"}
          value={text}
          onChange={(event) => set(event.target.value === "" && field.isFormat && !field.isRequired ? undefined : event.target.value)}
          {...(type !== undefined && type !== "text" && { spellCheck: false, autoCapitalize: "none" })}
        />
      );
  }
}

"use client";

import type { z } from "zod";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";

interface RenameDialogProps<Schema extends z.ZodObject> {
  /** What is renamed, for the heading. */
  what: string;
  /** The name, and after it whatever else may be written about the thing. */
  schema: Schema;
  initial: z.input<Schema>;
  save: (value: z.output<Schema>) => Promise<unknown>;
  onClose: () => void;
}

/** Asks for another name of something. */
export function RenameDialog<Schema extends z.ZodObject>({ what, schema, initial, save, onClose }: RenameDialogProps<Schema>) {
  const form = useForm({ schema, initial, submit: (value) => save(value).then(onClose) });
  const [name = "", ...others] = Object.keys(schema.shape) as (keyof z.input<Schema> & string)[];
  return (
    <FormDialog onClose={onClose} title={`Rename ${what}`} size="sm" form={form} submitLabel="Rename">
      <FormField form={form} name={name} hint={null} autoFocus autoComplete="off" />
      {others.map((other) => (
        <FormField key={other} form={form} name={other} isOptional hint={null} rows={2} />
      ))}
    </FormDialog>
  );
}

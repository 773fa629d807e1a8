"use client";

import { type FormEvent, useRef, useState } from "react";
import type { z } from "zod";
import { describeField, type FieldDescription } from "#components/forms/describe-field.ts";
import { errorBodyOf } from "#components/trpc.tsx";
import type { ErrorBody } from "#server/shared/error-schema.ts";

/**
 * A schema that comes when somebody types or sends: a page can show its forms without what checks them. Written by
 * server/generate.ts for each schema in a file named `…-form-schema.ts`.
 */
export interface LaterSchema<Schema extends z.ZodObject> {
  fields: Record<keyof Schema["shape"], FieldDescription>;
  load: () => Promise<Schema>;
}

export interface FormOptions<Schema extends z.ZodObject> {
  /** The request schema, or the part of it that people fill in. */
  schema: Schema | LaterSchema<Schema>;
  initial: z.input<Schema>;
  /** Called with what the schema accepted. What it throws is shown in the form, at the fields that the server names. */
  submit: (value: z.output<Schema>) => Promise<unknown>;
}

export interface UseFormReturn<Schema extends z.ZodObject> {
  /** What the schema says about a field. */
  describe: (name: keyof Schema["shape"] & string) => FieldDescription;
  values: z.input<Schema>;
  set: <Name extends keyof z.input<Schema> & string>(name: Name, value: z.input<Schema>[Name]) => void;
  /** Takes new values as the saved ones; `edited` says what stands in the form then, out of what stands there now. */
  reset: (values: z.input<Schema>, edited?: (current: z.input<Schema>) => z.input<Schema>) => void;
  errorOf: (name: string) => string | undefined;
  /** What the server said, apart from the fields of this form. */
  failure: ErrorBody | null;
  isDirty: boolean;
  isPending: boolean;
  /** Of the form's `onInput`: what checks it is there when it is sent. */
  prepare: () => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

type Errors = Record<string, string>;

const fieldErrorsOf = (errors: readonly { path: string; message: string }[], shape: object): Errors =>
  Object.fromEntries(
    errors.map(({ path, message }) => [path.split(".")[0] ?? "", message]).filter(([name]) => name !== undefined && name in shape),
  );

/** Marks are drawn after React has painted; then the first marked control takes the focus. */
const focusFirstError = (form: HTMLFormElement) =>
  requestAnimationFrame(() => requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()));

/** Values, errors and life of a form over a zod object. Nothing typed is lost when saving fails. */
export function useForm<Schema extends z.ZodObject>({ schema, initial, submit }: FormOptions<Schema>): UseFormReturn<Schema> {
  const [saved, setSaved] = useState(initial);
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<Errors>({});
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const [isPending, setIsPending] = useState(false);
  const isBusy = useRef(false);

  const shape = "load" in schema ? schema.fields : schema.shape;
  const isDirty = JSON.stringify(values) !== JSON.stringify(saved);

  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // A dialog's form is a child of the page's form in React's tree, though not in the document.
    event.stopPropagation();
    if (isBusy.current) return;
    const form = event.currentTarget;
    isBusy.current = true;
    setFailure(null);
    setIsPending(true);
    try {
      const parsed = ("load" in schema ? await schema.load() : schema).safeParse(values);
      if (!parsed.success) {
        const issues = parsed.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
        setErrors(fieldErrorsOf(issues.reverse(), shape));
        focusFirstError(form);
        return;
      }
      setErrors({});
      await submit(parsed.data as z.output<Schema>);
      setSaved(values);
    } catch (error) {
      const body = errorBodyOf(error);
      const named = fieldErrorsOf(body.errors ?? [], shape);
      setErrors(named);
      setFailure(Object.keys(named).length > 0 && Object.keys(named).length === body.errors?.length ? null : body);
      focusFirstError(form);
    } finally {
      isBusy.current = false;
      setIsPending(false);
    }
  };

  return {
    describe: (name) => ("load" in schema ? schema.fields[name] : describeField(schema.shape[name] as z.ZodType)),
    values,
    set: (name, value) => {
      setValues((current) => ({ ...current, [name]: value }));
      setErrors(({ [name]: _, ...rest }) => rest);
    },
    reset: (next, edited = () => next) => {
      setSaved(next);
      setValues(edited);
      setErrors({});
      setFailure(null);
    },
    errorOf: (name) => errors[name],
    failure,
    isDirty,
    isPending,
    prepare: () => {
      // What cannot be loaded is asked for again, and said, when the form is sent.
      if ("load" in schema) schema.load().catch(() => {});
    },
    onSubmit: (event) => void onSubmit(event),
  };
}

"use client";

import type { ComponentProps, FormEvent, ReactNode } from "react";
import { Button, type ButtonProps } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Dialog, DialogFooter, type DialogProps } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { ErrorBody } from "#server/shared/error-schema.ts";

/** What a form's frame needs of `useForm`. */
interface FormState {
  failure: ErrorBody | null;
  isPending: boolean;
  prepare?: () => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

interface FormProps extends ComponentProps<"form"> {
  form: FormState;
}

/** The fields of a form, one below the other. The browser's own checks are off: the schema's are shown at the fields. */
export const Form = ({ form, className, ...rest }: FormProps) => (
  <form onSubmit={form.onSubmit} onInput={form.prepare} noValidate className={cn("flex min-w-0 flex-col gap-4", className)} {...rest} />
);

interface FormFooterProps {
  form: FormState;
  /** While something above must be answered before it makes sense to send the form. */
  disabled?: boolean;
  /** What else there is to do about what the server said. */
  failureActions?: ReactNode;
  children: ReactNode;
}

/** The end of a dialog's form: what the server said, and the button that sends it. */
export function FormFooter({ form, disabled = false, failureActions, children }: FormFooterProps) {
  return (
    <>
      <FormFailure failure={form.failure} actions={failureActions} />
      <DialogFooter>
        <Button type="submit" variant="primary" isPending={form.isPending} disabled={disabled}>
          {children}
        </Button>
      </DialogFooter>
    </>
  );
}

interface FormDialogProps extends DialogProps {
  form: FormState;
  submitLabel: string;
  disabled?: boolean;
  failureActions?: ReactNode;
}

/** A dialog that is one form. */
export function FormDialog({ form, submitLabel, disabled = false, failureActions, children, ...dialog }: FormDialogProps) {
  return (
    <Dialog {...dialog}>
      <Form form={form}>
        {children}
        <FormFooter form={form} disabled={disabled} failureActions={failureActions}>
          {submitLabel}
        </FormFooter>
      </Form>
    </Dialog>
  );
}

/** The end of a form on a page: what the server said, and the button that sends it. */
export function FormSubmit({ form, ...button }: { form: FormState } & Omit<ButtonProps, "form">) {
  return (
    <>
      <FormFailure failure={form.failure} />
      <Button type="submit" isPending={form.isPending} {...button} />
    </>
  );
}

/** What the server said when saving failed, word for word, with every field that it names. */
export function FormFailure({ failure, title, actions }: { failure: ErrorBody | null; title?: string; actions?: ReactNode }) {
  if (!failure) return null;
  const errors = failure.errors ?? [];
  return (
    <Notice tone="failed" {...(title !== undefined && { title })} {...(actions !== undefined && { actions })}>
      {failure.detail}
      {errors.length > 1 && (
        <ul className="mt-1 list-disc pl-4">
          {errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path}: {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

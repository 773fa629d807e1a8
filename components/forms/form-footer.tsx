"use client";

import type { ReactNode } from "react";
import { Button } from "#components/ui/button.tsx";
import { DialogFooter } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { ErrorBody } from "#server/shared/error-schema.ts";

interface FormFooterProps {
  form: { failure: ErrorBody | null; isPending: boolean };
  /** While something above must be answered before it makes sense to send the form. */
  disabled?: boolean;
  children: ReactNode;
}

/** The end of a dialog's form: what the server said, and the button that sends it. */
export function FormFooter({ form, disabled = false, children }: FormFooterProps) {
  return (
    <>
      <FormFailure failure={form.failure} />
      <DialogFooter>
        <Button type="submit" variant="primary" isPending={form.isPending} disabled={disabled}>
          {children}
        </Button>
      </DialogFooter>
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
